/** What would be lost with a sandbox: the work of its agent that was not applied or fetched. */
import { existsSync } from 'node:fs';
import type { Home } from '../../../kernel/home/home.ts';
import type { Threads } from '../../../kernel/job/threads.ts';
import { Fault } from '../../../model/fault.ts';
import type { Sandbox } from '../../sandbox/model.ts';
import type { Unapplied } from '../../sandbox/part/part.ts';
import { isUnwritten } from '../change/overlay/unwritten.ts';
import { lacksTips } from '../git/bundle/agent-tips.ts';
import { workspacePlace } from '../launch.ts';
import type { WorkspacePlace } from '../workspace.ts';

export interface UnappliedParts {
  readonly home: Home;
  readonly threads: Pick<Threads, 'run'>;
}

/** The caller has opened the folder of the sandbox. */
export async function unappliedIn({ home, threads }: UnappliedParts, sandbox: Sandbox): Promise<Unapplied | null> {
  const place = workspacePlace(sandbox, home);
  if (place === null || isUnwritten(place)) return null;
  if (!existsSync(place.base)) throw cannotCompare(sandbox, place);
  const owner = { user: sandbox.spec.user };
  if ((await threads.run(owner, 'countChanges', place)) > 0) return 'changes';
  const tips = await threads.run(owner, 'readAgentTips', place);
  return (await lacksTips(place.project, tips)) ? 'commits' : null;
}

/** The number of files that differ from the project. Null: there is no working copy. */
export async function countChangesIn(
  { home, threads, openFolder }: UnappliedParts & { readonly openFolder: (id: string) => Promise<void> },
  sandbox: Sandbox,
): Promise<number | null> {
  const place = workspacePlace(sandbox, home);
  if (place === null) return null;
  await openFolder(sandbox.id);
  return threads.run({ user: sandbox.spec.user }, 'countChanges', place);
}

function cannotCompare({ name }: Sandbox, { project }: WorkspacePlace): Fault {
  return new Fault(
    'conflict',
    `the project ${project} does not exist any more, so the changes of ${name} are not known`,
    {
      hint: `Put it back, copy what ${name} has: carrel cp ${name}:/workspace DIR — or give it up: carrel rm --force ${name}`,
    },
  );
}
