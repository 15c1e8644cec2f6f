/** What is done to the state of swarms: by scripts, step by step, and by whoever runs them. */
import { randomUUID } from 'node:crypto';
import { Fault } from '../model/fault.ts';
import { printable } from '../model/name.ts';
import { type ContainerOutcome, isActive, type Swarm, type SwarmContainer, withChange } from '../model/swarm.ts';
import { reasonOf } from '../model/swarm-reason.ts';
import { noProgress } from '../model/task.ts';
import type { SwarmRecords } from './swarm.ts';

export interface NewContainer {
  readonly containerId: string;
  readonly containerName: string;
  readonly taskFilePath: string;
  readonly branchName: string;
}

/** What is known of one that Carrel looks after. */
export type KnownWork = Pick<SwarmContainer, 'storyProgress' | 'work'>;

export type ContainerChange = Partial<Pick<SwarmContainer, 'status' | 'prUrl' | 'storyProgress' | 'acpPid'>>;

export const defaultMax = 4;
const maxContainers = 10_000;

export class SwarmState {
  readonly #user: string;
  readonly #records: SwarmRecords;
  readonly #now: () => string;

  constructor(user: string, records: SwarmRecords, now: () => string) {
    this.#user = user;
    this.#records = records;
    this.#now = now;
  }

  find(project: string): Swarm | null {
    return this.#records.swarm(this.#user, project);
  }

  /** Refused with `not_found` where there is none. */
  current(project: string): Swarm {
    const swarm = this.find(project);
    if (swarm) return swarm;
    throw new Fault('not_found', `${printable(project)} has no swarm`, {
      hint: 'Begin one with: carrel swarm run --all — a script does with: carrel swarm init',
    });
  }

  containers({ swarmId }: Swarm): readonly SwarmContainer[] {
    return this.#records.containers(swarmId);
  }

  container({ swarmId }: Swarm, name: string): SwarmContainer {
    const found = this.#records.container(swarmId, name);
    if (found) return found;
    throw new Fault('not_found', `the swarm has no container ${printable(name)}`, {
      hint: 'carrel swarm list shows those there are.',
    });
  }

  /** A new swarm in the place of the one before. */
  init(project: string, force: boolean): Swarm {
    const before = this.find(project);
    if (before) this.#refuseActive(before, force);
    const at = this.#now();
    const stateFile = before?.stateFile ?? null;
    const swarm: Swarm = { swarmId: randomUUID(), project, max: defaultMax, createdAt: at, updatedAt: at, stateFile };
    if (before) this.#records.removeSwarm(this.#user, before, this.#event('swarm.removed', before));
    this.#records.putSwarm(this.#user, swarm, this.#event('swarm.created', swarm));
    return swarm;
  }

  #refuseActive(swarm: Swarm, force: boolean): void {
    const active = this.containers(swarm).filter(isActive);
    const ours = active.find(({ work }) => work !== null);
    if (active.length === 0 || (force && !ours)) return;
    throw new Fault('conflict', `the swarm has ${active.length} pending or running`, {
      hint: ours ? 'Stop it first: carrel swarm stop' : 'Give it up with --force.',
    });
  }

  add(swarm: Swarm, entry: NewContainer, known: KnownWork = { storyProgress: noProgress, work: null }): SwarmContainer {
    const { swarmId } = swarm;
    const at = this.#now();
    if (this.#records.container(swarmId, entry.containerName)) {
      throw new Fault('conflict', `the swarm has a container ${entry.containerName} already`, {
        hint: `Choose another name, or: carrel swarm remove ${entry.containerName}`,
      });
    }
    if (this.#records.count(swarmId) >= maxContainers) {
      throw new Fault('exhausted', `the swarm has ${maxContainers} containers`, { hint: 'carrel swarm cleanup' });
    }
    const container: SwarmContainer = {
      ...{ swarmId, ...entry, status: 'pending', prUrl: null, storyProgress: known.storyProgress },
      ...{ createdAt: at, updatedAt: at, acpPid: null, work: known.work },
    };
    this.#records.put(container, this.#containerEvent('swarm.added', container));
    return container;
  }

  /** For scripts. Of what Carrel looks after they only say where the pull request is, once it has ended. */
  update(swarm: Swarm, name: string, change: ContainerChange): SwarmContainer {
    const container = this.container(swarm, name);
    const isAbout = Object.keys(change).join();
    if (isAbout !== 'prUrl' || isActive(container)) refuseOurs(container);
    if (!knowsBetter(container, change)) return this.change(container, change, 'swarm.updated');
    return this.change({ ...container, status: 'running' }, { ...change, reason: null }, 'swarm.updated');
  }

  /** Of one that a script looks after: what is observed of it. What the script said meanwhile stays. */
  settle({ swarmId, containerName, status }: SwarmContainer, outcome: ContainerOutcome): void {
    const now = this.#records.container(swarmId, containerName);
    if (now === null || now.work !== null || now.status !== status) return;
    const isLate = status === 'pending' && outcome.status === 'completed';
    const begun = isLate ? this.change(now, { status: 'running' }, 'swarm.running') : now;
    this.change(begun, outcome, `swarm.${outcome.status}`);
  }

  /** Writes a change down, unless its container has gone meanwhile. */
  change(container: SwarmContainer, change: Partial<SwarmContainer>, type: string, lazy = false): SwarmContainer {
    const changed = withChange(container, change, this.#now());
    this.#records.put(changed, this.#containerEvent(type, changed), lazy);
    return changed;
  }

  /** Writes a container down as it is. */
  put(container: SwarmContainer, type: string): void {
    this.#records.put(container, this.#containerEvent(type, container));
  }

  setMax(swarm: Swarm, max: number): void {
    if (swarm.max !== max) this.#touch({ ...swarm, max });
  }

  keepFile(swarm: Swarm, stateFile: string | null): void {
    this.#touch({ ...swarm, stateFile });
  }

  remove(swarm: Swarm, name: string): SwarmContainer {
    const container = this.container(swarm, name);
    if (container.work !== null && isActive(container)) refuseOurs(container);
    this.forget(swarm, [container]);
    return container;
  }

  /** What has ended. */
  ended(swarm: Swarm): readonly SwarmContainer[] {
    return this.containers(swarm).filter((container) => !isActive(container));
  }

  forget(swarm: Swarm, containers: readonly SwarmContainer[]): void {
    for (const container of containers)
      this.#records.remove(container, this.#containerEvent('swarm.dropped', container));
    if (containers.length > 0) this.#touch(swarm);
  }

  #touch(swarm: Swarm): void {
    const touched = { ...swarm, updatedAt: this.#now() };
    this.#records.putSwarm(this.#user, touched, this.#event('swarm.changed', touched));
  }

  #event(type: string, { swarmId, project }: Swarm) {
    return { at: this.#now(), type, subject: swarmId, data: { user: this.#user, project } };
  }

  #containerEvent(type: string, container: SwarmContainer) {
    const { swarmId, containerName, status, storyProgress } = container;
    const { completed, total } = storyProgress;
    const data = { user: this.#user, name: containerName, status, completed, total, reason: reasonOf(container) };
    return { at: this.#now(), type, subject: swarmId, data };
  }
}

/** That a container ended was observed; how its work ended, the script that listened to it knows. */
function knowsBetter({ work, status, reason }: SwarmContainer, change: ContainerChange): boolean {
  const isObserved = work === null && status === 'failed' && (reason ?? null) !== null;
  return isObserved && (change.status === 'completed' || change.status === 'stopped');
}

function refuseOurs({ work, containerName }: SwarmContainer): void {
  if (work === null) return;
  throw new Fault('conflict', `${containerName} is looked after by Carrel`, {
    hint: `Stop it with: carrel swarm stop ${containerName}`,
  });
}
