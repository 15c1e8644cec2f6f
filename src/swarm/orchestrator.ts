/** Who works when: of each swarm as many containers at once as it may have, the others wait for their turn. */
import { asFault, Fault } from '../model/fault.ts';
import { isActive, type Swarm, type SwarmContainer } from '../model/swarm.ts';
import type { SwarmState } from './state.ts';
import type { Surface } from './surface.ts';
import type { SwarmRecords } from './swarm.ts';
import { Worker, type WorkerLimits } from './worker.ts';

/** What is needed to look after the swarms of one user. */
export interface Desk {
  readonly state: SwarmState;
  readonly surface: Surface;
}

export interface OrchestratorParts {
  readonly records: SwarmRecords;
  readonly deskOf: (user: string) => Desk;
  readonly limits: WorkerLimits;
  readonly everyMs: number;
  readonly fetchMs: number;
  readonly awayMs: number;
  readonly now: () => string;
  readonly report: (fault: Fault) => void;
}

interface Job {
  readonly worker: Worker;
  readonly done: Promise<void>;
}

export class Orchestrator {
  readonly #parts: OrchestratorParts;
  readonly #jobs = new Map<string, Job>();
  #closed = false;

  constructor(parts: OrchestratorParts) {
    this.#parts = parts;
  }

  /** After a restart: whoever is running is looked after again, and whoever waits has their turn. */
  recover(): void {
    for (const { user, swarm } of this.#parts.records.swarms()) {
      for (const container of this.#ours(swarm))
        if (container.status === 'running') this.#begin(user, swarm, container);
      this.advance(user, swarm.project);
    }
  }

  /** Begins what is pending, as far as there is room. */
  advance(user: string, project: string): void {
    const swarm = this.#parts.records.swarm(user, project);
    if (swarm === null || this.#closed) return;
    const waiting = this.#ours(swarm).filter((container) => !this.#jobs.has(keyOf(container)));
    const room = swarm.max - this.#working(swarm);
    for (const container of waiting.slice(0, Math.max(0, room))) this.#begin(user, swarm, container);
  }

  /** Stops a container, or takes it off the list of those who wait. */
  async stop(user: string, container: SwarmContainer): Promise<void> {
    const job = this.#jobs.get(keyOf(container));
    if (job) {
      await job.worker.stop();
      await job.done;
    } else if (isActive(container) && container.work !== null) {
      const work = { ...container.work, desired: 'stopped' as const };
      this.#parts.deskOf(user).state.change(container, { status: 'stopped', work }, 'swarm.stopped');
    }
  }

  /** Settles when what was to be recorded about it has been, if it has ended; and within that time anyway. */
  async settled(container: SwarmContainer, withinMs: number): Promise<void> {
    const job = this.#jobs.get(keyOf(container));
    if (!job) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, withinMs);
    });
    await Promise.race([job.done, late]);
    clearTimeout(timer);
  }

  /** Leaves all adapters to themselves. */
  async dispose(): Promise<void> {
    this.#closed = true;
    for (const { worker } of this.#jobs.values()) worker.leave();
  }

  #ours(swarm: Swarm): SwarmContainer[] {
    return this.#parts.records.containers(swarm.swarmId).filter((one) => one.work !== null && isActive(one));
  }

  #working({ swarmId }: Swarm): number {
    return [...this.#jobs.keys()].filter((key) => key.startsWith(`${swarmId}/`)).length;
  }

  #begin(user: string, swarm: Swarm, container: SwarmContainer): void {
    const key = keyOf(container);
    if (this.#jobs.has(key) || this.#closed) return;
    const { deskOf, limits, everyMs, fetchMs, awayMs, now } = this.#parts;
    const worker = new Worker({ ...deskOf(user), limits, everyMs, fetchMs, awayMs, now }, container);
    const ended = () => {
      this.#jobs.delete(key);
      this.advance(user, swarm.project);
    };
    const done = worker
      .run()
      .then(ended)
      .catch((error: unknown) => this.#parts.report(asFault(error)));
    this.#jobs.set(key, { worker, done });
  }
}

function keyOf({ swarmId, containerName }: SwarmContainer): string {
  return `${swarmId}/${containerName}`;
}

/** Ended, and not well. */
export function canResume({ status, work }: SwarmContainer): boolean {
  return work !== null && (status === 'failed' || status === 'stopped');
}

export function nothingToResume(): Fault {
  return new Fault('conflict', 'nothing of the swarm has failed or was stopped', { hint: 'carrel swarm status' });
}
