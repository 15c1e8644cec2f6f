/** Keeps the state files of swarms current: written again soon after each change, and after a restart. */
import { asFault, type Fault } from '../../model/fault.ts';
import { exportOf, isActive, type Swarm } from '../../model/swarm.ts';
import type { Store } from '../../store/store.ts';
import { swarmRecords } from './records.ts';
import { writeStateFile } from './state-file.ts';

export interface StateFileParts {
  readonly store: Store;
  /** Looks at containers of scripts, of which no event tells. */
  readonly look: (user: string, project: string) => Promise<unknown>;
  readonly report: (fault: Fault) => void;
}

/** Changes that come together are written together. */
const soonMs = 100;
const lookMs = 2000;

export class StateFiles {
  readonly #parts: StateFileParts;
  readonly #due = new Map<string, NodeJS.Timeout>();
  #forget: () => void = () => {};
  #looking: NodeJS.Timeout | undefined;

  constructor(parts: StateFileParts) {
    this.#parts = parts;
  }

  start(): void {
    const { store } = this.#parts;
    this.#forget = store.subscribe(({ type, subject }) => type.startsWith('swarm.') && this.#soon(subject));
    for (const { swarm } of swarmRecords(store).swarms()) this.#soon(swarm.swarmId);
    this.#looking = setInterval(() => void this.#look(), lookMs);
    this.#looking.unref();
  }

  /** For the caller that asks for the file: throws what is wrong with it. */
  write(swarm: Swarm): void {
    const { stateFile, project, swarmId } = swarm;
    if (stateFile)
      writeStateFile(project, stateFile, exportOf(swarm, swarmRecords(this.#parts.store).containers(swarmId)));
  }

  dispose(): void {
    this.#forget();
    clearInterval(this.#looking);
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

  async #look(): Promise<void> {
    const records = swarmRecords(this.#parts.store);
    const kept = records.swarms().filter(({ swarm }) => swarm.stateFile);
    for (const { user, swarm } of kept) {
      const ofScripts = records.containers(swarm.swarmId).some((one) => one.work === null && isActive(one));
      if (ofScripts) await this.#parts.look(user, swarm.project).catch((error) => this.#parts.report(asFault(error)));
    }
  }
}
