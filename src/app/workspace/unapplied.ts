/** What would be lost with a sandbox: the work of its agent that was not applied or fetched. */
import { existsSync } from 'node:fs';
import type { Threads } from '../../job/threads.ts';
import { workspacePlace } from '../../launch/workspace.ts';
import { Fault } from '../../model/fault.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import { lacksTips } from '../../workspace/git/agent-tips.ts';
import type { WorkspacePlace } from '../../workspace/workspace.ts';
import type { Home } from '../home.ts';
import { isUntouched } from './base-watch.ts';

export type Unapplied = 'changes' | 'commits';

export interface UnappliedParts {
  readonly home: Home;
  readonly threads: Pick<Threads, 'run'>;
}

/** Its folder has been opened. */
export async function unappliedIn({ home, threads }: UnappliedParts, sandbox: Sandbox): Promise<Unapplied | null> {
  const place = workspacePlace(sandbox, home);
  if (place === null || isUntouched(place)) return null;
  if (!existsSync(place.base)) throw cannotCompare(sandbox, place);
  const owner = { user: sandbox.spec.user };
  if ((await threads.run(owner, 'countChanges', place)) > 0) return 'changes';
  const tips = await threads.run(owner, 'readAgentTips', place);
  return (await lacksTips(place.project, tips)) ? 'commits' : null;
}

function cannotCompare({ name }: Sandbox, { project }: WorkspacePlace): Fault {
  return new Fault('conflict', `${project} is gone, so what ${name} has changed cannot be told`, {
    hint: `Put it back, copy what ${name} has: carrel cp ${name}:/workspace DIR — or give it up: carrel rm --force ${name}`,
  });
}

/** Why a sandbox that has these is not removed. */
export function wouldLose(name: string, lost: Unapplied): Fault {
  const give = `or give them up: carrel rm --force ${name}`;
  return lost === 'commits'
    ? new Fault('conflict', `${name} has commits that were not fetched`, {
        hint: `Fetch them with: carrel apply ${name} — ${give}`,
      })
    : new Fault('conflict', `${name} has changes that were not applied`, {
        hint: `See them with: carrel diff ${name} — take them with: carrel apply ${name} — ${give}`,
      });
}
