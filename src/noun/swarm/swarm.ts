/**
 * Swarms: task files of a project, each worked on by an agent in a sandbox of its own.
 *
 * A task file (`task/task.ts`) has stories. For each one a swarm has a container (`model/swarm.ts`): a sandbox whose command is the adapter, a
 * program of Carrel (`inside/inside.ts`) that has an agent work on one story after the other, or on several at once.
 *
 * Life cycle of a container: `pending → running → completed | failed | stopped`; failed and stopped ones start again by `resume` or another
 * `run`. Completed stories stay completed. Containers that scripts manage are observed whenever the state is read
 * (`app/state/script-entries.ts`); a script may mark a container as completed after its exit was observed.
 *
 *   recorded                          observed                                      becomes
 *   pending or running                completion read                               the state in it; completed only with every story done
 *   running, or pending after start   sandbox absent, or commits cannot be fetched  failed, `lost`
 *   running                           exited 0, no completion                       failed, `no_completion`
 *   running                           exited otherwise, out of memory               failed, `AGENT_CRASH` or `CONTAINER_OOM`
 *   running                           over its time limit, or silent                stopped, then failed, `CONTAINER_TIMEOUT`
 *   running                           paused, stopped or being removed              stopped
 *   pending                           running                                       running
 *   any end state                     anything                                      unchanged
 *
 * Promises:
 * - `run` reads and checks everything before it changes anything (`app/order/order.ts`). At most `max` containers of a swarm run at once; the
 *   others wait in a queue (`app/worker/orchestrator.ts`).
 * - A container is completed only by the adapter's own completion with all stories done; a story counts when its commit
 *   is on the host (`app/worker/worker.ts`).
 * - Each result is recorded before the next step, so the next daemon continues where this one ended.
 * - Messages of an adapter change only what the transitions of task files allow (`app/worker/work-change.ts`).
 * - A user has one swarm in a project. `init` refuses to replace one that is at work, unless forced. A script that tries to
 *   change a container that Carrel runs is refused.
 */
import type { Row, Store } from '../../kernel/store/store.ts';
import { isActive } from './model/swarm.ts';
import { type TaskPlace, taskPath } from './task/task.ts';

/** The swarms of all users, as the daemon uses them. */
export interface Swarms {
  /** After a restart of the daemon, continues the swarms of all users. */
  start(): void;
  /** Disconnects from all adapters, which go on; the next daemon connects to them. */
  dispose(): void;
}

/** The container that works on a task file, in the swarm of any user. */
export function workerOf(store: Store, place: TaskPlace): string | null {
  const isInProject = (row: Row<'container'>) => store.get('swarm', row.owner)?.value.project === place.project;
  const worksOn = ({ value }: Row<'container'>) =>
    value.work && isActive(value) && value.taskFilePath === taskPath(place);
  return store.list('container').find((row) => worksOn(row) && isInProject(row))?.name ?? null;
}
