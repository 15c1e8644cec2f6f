/** Keeps the state files of swarms current: writes them soon after each change, and after a restart. */
import type { Threads } from '../../../../kernel/job/threads.ts';
import type { Store } from '../../../../kernel/store/store.ts';
import { Exclusive } from '../../../../lib/flow/exclusive.ts';
import { asFault, type Fault } from '../../../../model/fault.ts';
import { exportOf, isActive, type Swarm } from '../../model/swarm.ts';

export interface StateFileParts {
  readonly store: Store;
  readonly threads: Pick<Threads, 'run'>;
  /** Observes containers of scripts, whose end writes no event. */
  readonly observe: (user: string, project: string) => Promise<unknown>;
  readonly report: (fault: Fault) => void;
}

/** Changes within this time are written together. */
const soonMs = 100;
const observeMs = 2000;

export class StateFiles {
  readonly #parts: StateFileParts;
  readonly #due = new Map<string, NodeJS.Timeout>();
  /** A swarm's file is written by one thread at a time, so that the newest state is the last. */
  readonly #writes = new Exclusive();
  #forget: () => void = () => {};
  #observing: NodeJS.Timeout | undefined;

  constructor(parts: StateFileParts) {
    this.#parts = parts;
  }

  start(): void {
    const { store } = this.#parts;
    this.#forget = store.subscribe(({ type, subject }) => type.startsWith('swarm.') && this.#soon(subject));
    for (const { id } of store.list('swarm')) this.#soon(id);
    this.#observing = setInterval(() => void this.#observe(), observeMs);
    this.#observing.unref();
  }

  /** Throws if the file cannot be written, for the caller that asked for it. */
  async write(user: string, swarm: Swarm): Promise<void> {
    const { stateFile, project, swarmId } = swarm;
    if (!stateFile) return;
    const { store, threads } = this.#parts;
    await this.#writes.run(swarmId, () => {
      const containers = store.list('container', swarmId).map(({ value }) => value);
      const text = `${JSON.stringify(exportOf(swarm, containers), null, 2)}\n`;
      return threads.run({ user }, 'writeStateFile', project, stateFile, text);
    });
  }

  dispose(): void {
    this.#forget();
    clearInterval(this.#observing);
    for (const timer of this.#due.values()) clearTimeout(timer);
    this.#due.clear();
  }

  #soon(swarmId: string): void {
    if (this.#due.has(swarmId) || !this.#parts.store.get('swarm', swarmId)?.value.stateFile) return;
    this.#due.set(
      swarmId,
      setTimeout(() => void this.#flush(swarmId), soonMs),
    );
  }

  async #flush(swarmId: string): Promise<void> {
    this.#due.delete(swarmId);
    try {
      const row = this.#parts.store.get('swarm', swarmId);
      if (row) await this.write(row.owner, row.value);
    } catch (error) {
      this.#parts.report(asFault(error));
    }
  }

  async #observe(): Promise<void> {
    const { store, observe, report } = this.#parts;
    for (const { id, owner, value: swarm } of store.list('swarm').filter(({ value }) => value.stateFile)) {
      const hasScripts = store.list('container', id).some(({ value }) => value.work === null && isActive(value));
      if (hasScripts) await observe(owner, swarm.project).catch((error) => report(asFault(error)));
    }
  }
}
