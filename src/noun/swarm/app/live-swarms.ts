/** The swarms of all users, as long as the daemon runs. */

import type { Kernel } from '../../../kernel/kernel.ts';
import type { Swarms } from '../swarm.ts';
import type { Tasks } from '../task/tasks.ts';
import type { OrderParts } from './order/order.ts';
import { scriptEntries } from './state/script-entries.ts';
import { SwarmState } from './state/state.ts';
import { StateFiles } from './state/state-files.ts';
import type { UserTasks } from './task/user-tasks.ts';
import { UserSwarms } from './user-swarms.ts';
import type { ContainerActions } from './worker/container-actions.ts';
import { Orchestrator } from './worker/orchestrator.ts';
import { type ActionParts, sandboxActions } from './worker/sandbox-actions.ts';

export interface LiveSwarmParts extends Pick<Kernel, 'store' | 'threads' | 'now' | 'report'> {
  readonly tasks: Tasks;
  readonly config: OrderParts['config'] & { readonly dockerSocket: string | null };
  readonly swarmsOf: (user: string) => UserSwarms;
}

/** What the swarms of one user need. */
export interface UserSwarmParts extends Omit<ActionParts, 'tasks'>, Omit<OrderParts, 'config'> {
  readonly userTasks: UserTasks;
  readonly isOwner: boolean;
}

/** Progress of a container is written at most this often. */
const writeMs = 100;
/** Commits of stories that end within this time are fetched together. */
const fetchMs = 2000;
const retryMs = 1000;

export class LiveSwarms implements Swarms {
  readonly #parts: LiveSwarmParts;
  readonly #orchestrators: Orchestrator[] = [];
  readonly #files: StateFiles;

  constructor(parts: LiveSwarmParts) {
    const { store, threads, report, swarmsOf } = parts;
    this.#parts = parts;
    const observe = (user: string, project: string) => swarmsOf(user).show(project);
    this.#files = new StateFiles({ store, threads, observe, report: (fault) => report('swarm', fault) });
  }

  start(): void {
    const { store, swarmsOf } = this.#parts;
    const users = new Set(store.list('swarm').map(({ owner }) => owner));
    for (const user of users) swarmsOf(user).recover();
    this.#files.start();
  }

  dispose(): void {
    this.#files.dispose();
    for (const orchestrator of this.#orchestrators) orchestrator.dispose();
  }

  /** Called once for each user. */
  of(user: UserSwarmParts): UserSwarms {
    const { store, tasks, config, now } = this.#parts;
    const state = new SwarmState(user.sandboxes.owner, store, now);
    return new UserSwarms(user.sandboxes, {
      ...user,
      ...{ state, tasks, config, now, files: this.#files },
      orchestrator: this.#orchestrator(state, sandboxActions({ ...user, tasks })),
      seeEntry: scriptEntries(user, user.isOwner ? config.dockerSocket : undefined),
    });
  }

  #orchestrator(state: SwarmState, actions: ContainerActions): Orchestrator {
    const { config, now, report } = this.#parts;
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
