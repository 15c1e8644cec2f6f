/** The swarms of one user, as the API has them. */
import type { SwarmEntryView, SwarmExportView } from '../api/routes.ts';
import { entryOf, exportOf, type SwarmContainer } from '../model/swarm.ts';
import type { StoryProgress } from '../model/task.ts';
import { type NewContainer, SwarmState } from '../swarm/state.ts';
import type { SwarmRecords } from '../swarm/swarm.ts';
import type { Sandboxes } from './sandboxes.ts';

export interface SwarmParts {
  readonly records: SwarmRecords;
  readonly now: () => string;
}

export interface UpdateOrder {
  readonly project: string;
  readonly containerName: string;
  readonly status?: SwarmContainer['status'] | undefined;
  readonly prUrl?: string | null | undefined;
  readonly storyProgress?: StoryProgress | undefined;
  readonly acpPid?: number | null | undefined;
}

export class SwarmDesk {
  readonly #sandboxes: Sandboxes;
  readonly #state: SwarmState;

  constructor(sandboxes: Sandboxes, { records, now }: SwarmParts) {
    this.#sandboxes = sandboxes;
    this.#state = new SwarmState(sandboxes.owner, records, now);
  }

  init(project: string, force: boolean): SwarmExportView {
    return this.#export(this.#state.init(this.#sandboxes.project(project), force));
  }

  export(project: string): SwarmExportView {
    return this.#export(this.#current(project));
  }

  add({ project, ...entry }: NewContainer & { readonly project: string }): SwarmEntryView {
    return view(this.#state.add(this.#current(project), entry));
  }

  update({ project, containerName, ...asked }: UpdateOrder): SwarmEntryView {
    const change = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
    return view(this.#state.update(this.#current(project), containerName, change));
  }

  remove(project: string, containerName: string): SwarmEntryView {
    return view(this.#state.remove(this.#current(project), containerName));
  }

  cleanup(project: string): { removed: number } {
    const swarm = this.#current(project);
    const ended = this.#state.ended(swarm);
    this.#state.forget(swarm, ended);
    return { removed: ended.length };
  }

  #current(project: string) {
    return this.#state.current(this.#sandboxes.project(project));
  }

  #export(swarm: Parameters<typeof exportOf>[0]): SwarmExportView {
    const { containers, ...rest } = exportOf(swarm, this.#state.containers(swarm));
    return { ...rest, containers: [...containers] };
  }
}

function view(container: SwarmContainer): SwarmEntryView {
  return entryOf(container);
}
