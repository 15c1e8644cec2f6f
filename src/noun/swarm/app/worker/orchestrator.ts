/**
 * Runs the containers of one user's swarms: in each swarm as many at once as it may have; the others wait in a queue.
 */
import { asFault, Fault } from '../../../../model/fault.ts';
import { isActive, type Swarm, type SwarmContainer } from '../../model/swarm.ts';
import { Worker, type WorkerParts } from './worker.ts';

export interface OrchestratorParts extends WorkerParts {
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

  /** Called after a restart: running containers get a worker again, then waiting ones. */
  recover(): void {
    for (const swarm of this.#parts.state.swarms()) {
      for (const container of this.#active(swarm)) if (container.status === 'running') this.#begin(swarm, container);
      this.advance(swarm.project);
    }
  }

  /** Begins pending containers, as far as the limit of the swarm allows. */
  advance(project: string): void {
    const swarm = this.#parts.state.find(project);
    if (swarm === null || this.#closed) return;
    const waiting = this.#active(swarm).filter((container) => !this.#jobs.has(keyOf(container)));
    const room = swarm.max - this.#working(swarm);
    for (const container of waiting.slice(0, Math.max(0, room))) this.#begin(swarm, container);
  }

  /** Stops a container that works, or removes one that waits from the queue. */
  async stop(container: SwarmContainer): Promise<void> {
    const job = this.#jobs.get(keyOf(container));
    if (job) {
      await job.worker.stop();
      await job.done;
    } else if (isActive(container) && container.work !== null) {
      const work = { ...container.work, desired: 'stopped' as const };
      this.#parts.state.change(container, { status: 'stopped', work }, 'swarm.stopped');
    }
  }

  /** Resolves when the end of a container is recorded, or after the time-out. */
  async settled(container: SwarmContainer, timeoutMs: number): Promise<void> {
    const job = this.#jobs.get(keyOf(container));
    if (!job) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([job.done, late]);
    clearTimeout(timer);
  }

  /** Disconnects from all adapters, which go on. */
  dispose(): void {
    this.#closed = true;
    for (const { worker } of this.#jobs.values()) worker.leave();
  }

  #active(swarm: Swarm): SwarmContainer[] {
    return this.#parts.state.containers(swarm).filter((one) => one.work !== null && isActive(one));
  }

  #working({ swarmId }: Swarm): number {
    return [...this.#jobs.keys()].filter((key) => key.startsWith(`${swarmId}/`)).length;
  }

  #begin(swarm: Swarm, container: SwarmContainer): void {
    const key = keyOf(container);
    if (this.#jobs.has(key) || this.#closed) return;
    const worker = new Worker(this.#parts, container);
    const ended = () => {
      this.#jobs.delete(key);
      this.advance(swarm.project);
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

export function canResume({ status, work }: SwarmContainer): boolean {
  return work !== null && (status === 'failed' || status === 'stopped');
}

export function nothingToResume(): Fault {
  return new Fault('conflict', 'no container of the swarm has failed or was stopped', {
    hint: 'See: carrel swarm status',
  });
}
