/** Keeps the state files of swarms current: writes them soon after each change, and after a restart. */
import { asFault, type Fault } from '../../model/fault.ts';
import { exportOf, isActive, type Swarm } from '../../model/swarm.ts';
import type { Store } from '../../store/store.ts';
import { writeStateFile } from './state-file.ts';

export interface StateFileParts {
  readonly store: Store;
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

  /** Throws where the file cannot be written, for the caller that asked for it. */
  write(swarm: Swarm): void {
    const { stateFile, project, swarmId } = swarm;
    if (!stateFile) return;
    const containers = this.#parts.store.list('container', swarmId).map(({ value }) => value);
    writeStateFile(project, stateFile, exportOf(swarm, containers));
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
      setTimeout(() => this.#flush(swarmId), soonMs),
    );
  }

  #flush(swarmId: string): void {
    this.#due.delete(swarmId);
    try {
      const swarm = this.#parts.store.get('swarm', swarmId)?.value;
      if (swarm) this.write(swarm);
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
