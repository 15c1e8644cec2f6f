/**
 * The state of one user's swarms. It is in the store, one row for a swarm and one for each container, so that a change
 * writes one row however many there are, together with its event. The JSON file that scripts read is exported from it.
 *
 * A user has at most one swarm in a project. `init` makes a new one and refuses while a container is pending or running,
 * unless forced; `add` refuses a known name; transitions are enforced; `forget` drops what has ended. A container with
 * `work` is run by Carrel, and a script that tries to change it is refused.
 */
import { randomUUID } from 'node:crypto';
import type { Store } from '../../../../kernel/store/store.ts';
import type { NewEvent } from '../../../../model/event.ts';
import { Fault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';
import {
  type ContainerOutcome,
  isActive,
  reasonOf,
  type Swarm,
  type SwarmContainer,
  withChange,
} from '../../model/swarm.ts';
import { noProgress } from '../../model/task.ts';

export interface NewContainer {
  readonly containerId: string;
  readonly containerName: string;
  readonly taskFilePath: string;
  readonly branchName: string;
}

/** Additional fields of a container that Carrel runs. */
export type KnownWork = Pick<SwarmContainer, 'storyProgress' | 'work'>;

export type ContainerChange = Partial<Pick<SwarmContainer, 'status' | 'prUrl' | 'storyProgress' | 'acpPid'>>;

export const defaultMax = 4;
const maxContainers = 10_000;

export class SwarmState {
  readonly #user: string;
  readonly #store: Store;
  readonly #now: () => string;

  constructor(user: string, store: Store, now: () => string) {
    this.#user = user;
    this.#store = store;
    this.#now = now;
  }

  swarms(): readonly Swarm[] {
    return this.#store.list('swarm', this.#user).map(({ value }) => value);
  }

  find(project: string): Swarm | null {
    return this.#store.find('swarm', this.#user, project)?.value ?? null;
  }

  /** Throws `not_found` if the project has no swarm. */
  current(project: string): Swarm {
    const swarm = this.find(project);
    if (swarm) return swarm;
    throw new Fault('not_found', `${printable(project)} has no swarm`, {
      hint: 'Begin one with: carrel swarm run --all — a script does with: carrel swarm init',
    });
  }

  /** The containers in the order in which they were added. */
  containers({ swarmId }: Swarm): readonly SwarmContainer[] {
    return this.#store.list('container', swarmId).map(({ value }) => value);
  }

  container({ swarmId }: Swarm, name: string): SwarmContainer {
    const found = this.#store.find('container', swarmId, name);
    if (found) return found.value;
    throw new Fault('not_found', `the swarm has no container ${printable(name)}`, {
      hint: 'See: carrel swarm ls',
    });
  }

  /** Replaces the swarm that the project had. */
  init(project: string, force: boolean): Swarm {
    const before = this.find(project);
    if (before) this.#refuseActive(before, force);
    const at = this.#now();
    const stateFile = before?.stateFile ?? null;
    const swarm: Swarm = { swarmId: randomUUID(), project, max: defaultMax, createdAt: at, updatedAt: at, stateFile };
    if (before) this.#removeSwarm(before);
    const row = { kind: 'swarm', id: swarm.swarmId, owner: this.#user, name: project, value: swarm } as const;
    this.#store.insert(row, this.#event('swarm.created', swarm));
    return swarm;
  }

  #refuseActive(swarm: Swarm, force: boolean): void {
    const active = this.containers(swarm).filter(isActive);
    const hasWork = active.some(({ work }) => work !== null);
    if (active.length === 0 || (force && !hasWork)) return;
    const names = active.map(({ containerName }) => containerName).join(', ');
    throw new Fault('conflict', `the swarm has pending or running containers: ${names}`, {
      hint: hasWork ? 'Stop it first: carrel swarm stop' : 'Replace it anyway: carrel swarm init --force',
    });
  }

  #removeSwarm(swarm: Swarm): void {
    const event = this.#event('swarm.removed', swarm);
    const row = this.#store.get('swarm', swarm.swarmId);
    if (row) this.#store.remove(row, event);
    for (const container of this.#store.list('container', swarm.swarmId)) this.#store.remove(container, event);
  }

  add(swarm: Swarm, entry: NewContainer, known: KnownWork = { storyProgress: noProgress, work: null }): SwarmContainer {
    const { swarmId } = swarm;
    const at = this.#now();
    if (this.#store.find('container', swarmId, entry.containerName)) {
      throw new Fault('conflict', `the swarm has a container ${entry.containerName} already`, {
        hint: `Choose another name, or: carrel swarm rm ${entry.containerName}`,
      });
    }
    if (this.#store.count('container', swarmId) >= maxContainers) {
      throw new Fault('exhausted', `the swarm has ${maxContainers} containers already`, {
        hint: 'Remove those that have ended: carrel swarm clean',
      });
    }
    const container: SwarmContainer = {
      ...{ swarmId, ...entry, status: 'pending', prUrl: null, storyProgress: known.storyProgress },
      ...{ createdAt: at, updatedAt: at, acpPid: null, work: known.work },
    };
    this.put(container, 'swarm.added');
    return container;
  }

  /** For scripts: of a container that Carrel runs, they can only set the pull request, once it has ended. */
  update(swarm: Swarm, name: string, change: ContainerChange): SwarmContainer {
    const container = this.container(swarm, name);
    const fields = Object.keys(change).join();
    if (fields !== 'prUrl' || isActive(container)) refuseCarrels(container);
    if (!correctsObserved(container, change)) return this.change(container, change, 'swarm.updated');
    return this.change({ ...container, status: 'running' }, { ...change, reason: null }, 'swarm.updated');
  }

  /** Records the observed state of a script's container. What the script has set meanwhile stays. */
  settle({ swarmId, containerName, status }: SwarmContainer, outcome: ContainerOutcome): void {
    const now = this.#store.find('container', swarmId, containerName)?.value ?? null;
    if (now === null || now.work !== null || now.status !== status) return;
    const isLate = status === 'pending' && outcome.status === 'completed';
    const begun = isLate ? this.change(now, { status: 'running' }, 'swarm.running') : now;
    this.change(begun, outcome, `swarm.${outcome.status}`);
  }

  /** `lazy`: a crash of the machine may lose the change, because it can be observed again. */
  change(container: SwarmContainer, change: Partial<SwarmContainer>, type: string, lazy = false): SwarmContainer {
    const changed = withChange(container, change, this.#now());
    this.put(changed, type, lazy);
    return changed;
  }

  put(container: SwarmContainer, type: string, lazy = false): void {
    const { swarmId, containerName: name } = container;
    const event = this.#containerEvent(type, container);
    const row = this.#store.find('container', swarmId, name);
    if (row) this.#store.update(row, container, event, { lazy });
    else
      this.#store.insert(
        { kind: 'container', id: `${swarmId}/${name}`, owner: swarmId, name, value: container },
        event,
      );
  }

  setMax(swarm: Swarm, max: number): void {
    if (swarm.max !== max) this.#touch({ ...swarm, max });
  }

  keepFile(swarm: Swarm, stateFile: string | null): void {
    this.#touch({ ...swarm, stateFile });
  }

  remove(swarm: Swarm, name: string): SwarmContainer {
    const container = this.container(swarm, name);
    if (isActive(container)) refuseCarrels(container);
    this.forget(swarm, [container]);
    return container;
  }

  ended(swarm: Swarm): readonly SwarmContainer[] {
    return this.containers(swarm).filter((container) => !isActive(container));
  }

  forget(swarm: Swarm, containers: readonly SwarmContainer[]): void {
    for (const container of containers) {
      const row = this.#store.find('container', swarm.swarmId, container.containerName);
      if (row) this.#store.remove(row, this.#containerEvent('swarm.dropped', container));
    }
    if (containers.length > 0) this.#touch(swarm);
  }

  #touch(swarm: Swarm): void {
    const row = this.#store.get('swarm', swarm.swarmId);
    const touched = { ...swarm, updatedAt: this.#now() };
    if (row) this.#store.update(row, touched, this.#event('swarm.changed', touched));
  }

  #event(type: string, { swarmId, project }: Swarm): NewEvent {
    return { at: this.#now(), type, subject: swarmId, data: { user: this.#user, project } };
  }

  #containerEvent(type: string, container: SwarmContainer): NewEvent {
    const { swarmId, containerName, status, storyProgress } = container;
    const { completed, total } = storyProgress;
    const data = { user: this.#user, name: containerName, status, completed, total, reason: reasonOf(container) };
    return { at: this.#now(), type, subject: swarmId, data };
  }
}

/** Removes containers without a swarm, which a crash leaves while a swarm is replaced. */
export function removeOrphans(store: Store, at: string): void {
  for (const row of store.list('container')) {
    if (store.get('swarm', row.owner) !== null) continue;
    store.remove(row, { at, type: 'swarm.dropped', subject: row.owner, data: { name: row.name } });
  }
}

/** Whether a script corrects an end that Carrel observed: the script read the messages and knows how the work ended. */
function correctsObserved({ work, status, reason }: SwarmContainer, change: ContainerChange): boolean {
  const isObserved = work === null && status === 'failed' && (reason ?? null) !== null;
  return isObserved && (change.status === 'completed' || change.status === 'stopped');
}

function refuseCarrels(container: SwarmContainer): void {
  const { work, containerName } = container;
  if (work === null) return;
  const stop = `Stop it with: carrel swarm stop ${containerName}`;
  throw new Fault('conflict', `Carrel manages ${containerName}, so a script cannot change it`, {
    hint: isActive(container) ? stop : `Continue it with: carrel swarm resume ${containerName}`,
  });
}
