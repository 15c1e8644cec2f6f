/** Swarms put together: their state, who looks after them, and what each user can reach of them. */

import type { Config } from '../app/config.ts';
import type { OrderParts } from '../app/swarm/order.ts';
import { forgetStrays, swarmRecords } from '../app/swarm/records.ts';
import { scriptEntries } from '../app/swarm/script-entries.ts';
import { StateFiles } from '../app/swarm/state-files.ts';
import { swarmSurface } from '../app/swarm/surface.ts';
import { SwarmDesk } from '../app/swarm/swarms.ts';
import { TaskDesk } from '../app/task/tasks.ts';
import type { WorkspaceParts } from '../app/workspace/workspaces.ts';
import type { Fault } from '../model/fault.ts';
import { isActive } from '../model/swarm.ts';
import type { Store } from '../store/store.ts';
import { type Desk, Orchestrator } from '../swarm/orchestrator.ts';
import { SwarmState } from '../swarm/state.ts';
import { type TaskPlace, taskPath } from '../task/task.ts';
import { Tasks } from '../task/tasks.ts';

export interface SwarmWiring {
  readonly store: Store;
  readonly config: Config;
  readonly now: () => string;
  /** What is needed for the swarms of a user. */
  readonly deskOf: (user: string) => Desk;
  /** Has the containers of scripts looked at. */
  readonly look: (user: string, project: string) => Promise<unknown>;
  readonly report: (id: string, fault: Fault) => void;
}

/** A change that can be told again is written down at most that often. */
const everyMs = 100;
/** Stories that are done one after the other come to the host together. */
const fetchMs = 2000;
const awayMs = 1000;

export class Swarms {
  readonly #wiring: SwarmWiring;
  readonly #tasks = new Tasks();
  readonly orchestrator: Orchestrator;
  readonly files: StateFiles;

  constructor(wiring: SwarmWiring) {
    const { store, config, deskOf, look, now, report } = wiring;
    this.#wiring = wiring;
    forgetStrays(store, now());
    this.orchestrator = new Orchestrator({
      records: swarmRecords(store),
      deskOf,
      get limits() {
        return { taskMs: config.swarm.taskSeconds * 1000, silenceMs: config.swarm.silenceSeconds * 1000 };
      },
      everyMs,
      fetchMs,
      awayMs,
      now,
      report: (fault) => report('swarm', fault),
    });
    this.files = new StateFiles({ store, look, report: (fault) => report('swarm', fault) });
  }

  /** After a restart everything goes on. */
  start(): void {
    this.orchestrator.recover();
    this.files.start();
  }

  dispose(): void {
    this.files.dispose();
    void this.orchestrator.dispose();
  }

  /** What a user can reach of task files and swarms. */
  of(
    parts: WorkspaceParts,
    keys: Omit<OrderParts, 'config'>,
    isOwner: boolean,
  ): { tasks: TaskDesk; swarms: SwarmDesk } {
    const { store, config, now } = this.#wiring;
    const { sandboxes } = parts;
    const desk = new TaskDesk(sandboxes, { tasks: this.#tasks, workerOf: (place) => workerOf(store, place) });
    const state = new SwarmState(sandboxes.owner, swarmRecords(store), now);
    const surface = swarmSurface({ ...parts, tasks: this.#tasks });
    const { orchestrator, files } = this;
    const seeEntry = scriptEntries(parts, isOwner ? config.dockerSocket : undefined);
    const swarms = new SwarmDesk(sandboxes, {
      ...{ state, surface, tasks: this.#tasks, desk, orchestrator, files, seeEntry, config, now },
      ...keys,
    });
    return { tasks: desk, swarms };
  }
}

/** Whose swarm it may be does not matter: one file, one worker. */
function workerOf(store: Store, place: TaskPlace): string | null {
  const isOurs = ({ owner }: { readonly owner: string }) => store.get('swarm', owner)?.value.project === place.project;
  const found = store
    .list('container')
    .find((row) => row.value.work && isActive(row.value) && row.value.taskFilePath === taskPath(place) && isOurs(row));
  return found?.name ?? null;
}
