/** Constructs the swarms of each user. */

import type { Config } from '../app/app.ts';
import type { ContainerActions } from '../app/swarm/container-actions.ts';
import { Orchestrator } from '../app/swarm/orchestrator.ts';
import type { OrderParts } from '../app/swarm/order.ts';
import { sandboxActions } from '../app/swarm/sandbox-actions.ts';
import { scriptEntries } from '../app/swarm/script-entries.ts';
import { removeOrphans, SwarmState } from '../app/swarm/state.ts';
import { StateFiles } from '../app/swarm/state-files.ts';
import { UserSwarms } from '../app/swarm/swarms.ts';
import { UserTasks } from '../app/task/tasks.ts';
import { fetchCommits } from '../app/workspace/commits.ts';
import type { WorkspaceParts } from '../app/workspace/workspaces.ts';
import type { Threads } from '../job/threads.ts';
import type { Fault } from '../model/fault.ts';
import { isActive } from '../model/swarm.ts';
import type { Store } from '../store/store.ts';
import { type TaskPlace, taskPath } from '../task/task.ts';
import { Tasks } from '../task/tasks.ts';

export interface SwarmWiring {
  readonly store: Store;
  readonly threads: Threads;
  readonly config: Config;
  readonly now: () => string;
  readonly swarmsOf: (user: string) => UserSwarms;
  readonly report: (id: string, fault: Fault) => void;
}

/** Progress of a container is written at most this often. */
const writeMs = 100;
/** Commits of stories that end within this time are fetched together. */
const fetchMs = 2000;
const retryMs = 1000;

export class Swarms {
  readonly #wiring: SwarmWiring;
  readonly #tasks = new Tasks();
  readonly #orchestrators: Orchestrator[] = [];
  readonly #files: StateFiles;

  constructor(wiring: SwarmWiring) {
    const { store, threads, now, report, swarmsOf } = wiring;
    this.#wiring = wiring;
    removeOrphans(store, now());
    const observe = (user: string, project: string) => swarmsOf(user).show(project);
    this.#files = new StateFiles({ store, threads, observe, report: (fault) => report('swarm', fault) });
  }

  /** After a restart of the daemon, continues the swarms of all users. */
  start(): void {
    const { store, swarmsOf } = this.#wiring;
    const users = new Set(store.list('swarm').map(({ owner }) => owner));
    for (const user of users) swarmsOf(user).recover();
    this.#files.start();
  }

  dispose(): void {
    this.#files.dispose();
    for (const orchestrator of this.#orchestrators) orchestrator.dispose();
  }

  /** The task files and swarms of one user; called once for each. */
  of(
    parts: WorkspaceParts,
    keys: Omit<OrderParts, 'config'>,
    isOwner: boolean,
  ): { tasks: UserTasks; swarms: UserSwarms } {
    const { store, config, now } = this.#wiring;
    const { sandboxes } = parts;
    const userTasks = new UserTasks(sandboxes, { tasks: this.#tasks, workerOf: (place) => workerOf(store, place) });
    const state = new SwarmState(sandboxes.owner, store, now);
    const orchestrator = this.#orchestrator(
      state,
      sandboxActions({
        ...{ ...parts, tasks: this.#tasks },
        fetchCommits: (sandbox) => fetchCommits(parts, sandbox),
      }),
    );
    const seeEntry = scriptEntries(parts, isOwner ? config.dockerSocket : undefined);
    const swarms = new UserSwarms(sandboxes, {
      ...{ state, tasks: this.#tasks, userTasks, orchestrator, files: this.#files, seeEntry, config, now },
      ...keys,
    });
    return { tasks: userTasks, swarms };
  }

  #orchestrator(state: SwarmState, actions: ContainerActions): Orchestrator {
    const { config, now, report } = this.#wiring;
    const orchestrator = new Orchestrator({
      ...{ state, actions, writeMs, fetchMs, retryMs, now },
      get limits() {
        return { taskMs: config.swarm.taskSeconds * 1000, silenceMs: config.swarm.silenceSeconds * 1000 };
      },
      report: (fault) => report('swarm', fault),
    });
    this.#orchestrators.push(orchestrator);
    return orchestrator;
  }
}

/** The container that works on a task file, in the swarm of any user. */
function workerOf(store: Store, place: TaskPlace): string | null {
  const isInProject = ({ owner }: { readonly owner: string }) =>
    store.get('swarm', owner)?.value.project === place.project;
  const found = store
    .list('container')
    .find(
      (row) => row.value.work && isActive(row.value) && row.value.taskFilePath === taskPath(place) && isInProject(row),
    );
  return found?.name ?? null;
}
