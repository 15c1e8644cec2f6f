/** Jobs whose results are shown to clients: the long lists in them become JSON in the thread already. */

import { blockedBy, plannedView, shownPath } from '../api/apply-view.ts';
import type { ApplyView, ChangeView } from '../api/workspace.ts';
import { type BytePath, isWithin } from '../model/byte-path.ts';
import { undoApply } from '../workspace/apply/undo.ts';
import { listChanges } from '../workspace/change/changes.ts';
import { discardChanges } from '../workspace/change/discard.ts';
import { type Reviewed, type ReviewInput, review } from '../workspace/review-job.ts';
import { type TakenOver, type TakeOver, takeOver } from '../workspace/take-over.ts';
import { type TakeToBranch, takeToBranch } from '../workspace/take-to-branch.ts';
import type { WorkspacePlace } from '../workspace/workspace.ts';

export async function reviewShown(input: ReviewInput): Promise<{ changes: Uint8Array; hiddenInGit: number }> {
  const { changes, hiddenInGit } = await review(input);
  return { changes: json(changes.map(changeView)), hiddenInGit };
}

function changeView(change: Reviewed['changes'][number]): ChangeView {
  const { fromBase64: _, oldMode, newMode, gates, ...rest } = change;
  return { ...rest, oldMode: octal(oldMode), newMode: octal(newMode), gates: [...gates] };
}

function octal(mode: string | null): number | null {
  return mode === null ? null : Number.parseInt(mode, 8);
}

export interface TakenShown {
  readonly paths: Uint8Array;
  /** A digest of the plan; null after an apply that expected none. */
  readonly plan: string | null;
  readonly blocked: ApplyView['blocked'];
  readonly hiddenInGit: number;
}

export function takeOverShown(order: TakeOver): TakenShown & Pick<TakenOver, 'changed'> {
  const taken = takeOver(order);
  return { ...shown(taken), changed: taken.changed };
}

export async function takeToBranchShown(order: TakeToBranch): Promise<TakenShown & { commit: string | null }> {
  const taken = await takeToBranch(order);
  return { ...shown(taken), commit: taken.commit };
}

function shown({ paths, digest, hiddenInGit }: Pick<TakenOver, 'paths' | 'digest' | 'hiddenInGit'>): TakenShown {
  return { paths: json(paths.map(plannedView)), plan: digest, blocked: blockedBy(paths), hiddenInGit };
}

export async function undoShown(journal: string): Promise<{ paths: Uint8Array }> {
  return { paths: json((await undoApply(journal)).map(shownPath)) };
}

export function countChanges(place: WorkspacePlace): number {
  return listChanges(place).changes.length;
}

/** How many there are, and the asked paths at which there is none. */
export function countChangesAt(place: WorkspacePlace, asked: readonly BytePath[]): { count: number; idle: BytePath[] } {
  const { changes } = listChanges(place);
  const idle = asked.filter((folder) => !changes.some(({ path }) => isWithin(path, folder)));
  return { count: changes.length, idle };
}

export function discardShown(place: WorkspacePlace, asked: readonly BytePath[]): { paths: Uint8Array; count: number } {
  const discarded = discardChanges(place, asked);
  return { paths: json(discarded.map(shownPath)), count: discarded.length };
}

/** In memory of its own, which can be handed over. */
function json(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
