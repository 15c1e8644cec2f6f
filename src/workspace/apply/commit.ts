/** Applies that are whole or not at all, can be completed after a crash, and can be taken back. */
import { Fault } from '../../model/fault.ts';
import { commitSteps } from './commit-steps.ts';
import type { Plan } from './plan.ts';
import type { Remake } from './retry.ts';

export { readJournal } from './journal.ts';
export { recover } from './recover.ts';
export { undoApply } from './undo.ts';

/**
 * `journalFolder` is one for each apply, outside of the project. Whatever fails leaves the project as it was and no
 * journal; a plan without steps needs none either. `remake` decides anew about a path that moved. `meta` is any JSON, for later.
 */
export function commitApply(
  plan: Pick<Plan, 'blocked' | 'steps'>,
  project: string,
  journalFolder: string,
  meta: unknown,
  remake: Remake | null = null,
): void {
  if (plan.blocked) throw new Fault('conflict', 'conflicts or gates stand in the way; nothing was changed');
  if (plan.steps.length > 0) commitSteps(plan.steps, project, journalFolder, meta, remake);
}
