/**
 * Holding a sandbox still for a purpose of ours. A note in the engine's folder says whose pause it is: one that this
 * instance did not make is what a crash left, and is ended by whoever looks next.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crashPoint } from '../../lib/crash-point.ts';
import { OwnPauses } from '../own-pauses.ts';
import { type Connection, statusOf } from './connection.ts';

export class Pauses {
  readonly #connection: Connection;
  readonly #folder: string;
  readonly #own = new OwnPauses();

  constructor(connection: Connection, folder: string) {
    this.#connection = connection;
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  over(id: string): Promise<void> | null {
    return this.#own.over(id);
  }

  ids(): string[] {
    return this.#own.ids();
  }

  /** Made by an instance that is no more. */
  isAbandoned(id: string): boolean {
    return !this.#own.has(id) && existsSync(this.#note(id));
  }

  /** `begun` settles when all that was sent into the sandbox is there to be held. */
  begin(id: string, container: string, begun: () => Promise<unknown>): Promise<void> {
    const hold = async () => {
      await begun();
      writeFileSync(this.#note(id), '', { mode: 0o600 });
      await this.#connection.ask((docker) => docker.getContainer(container).pause());
      crashPoint('pause:held');
    };
    return this.#own.begin(id, hold, () => this.#release(id, container));
  }

  /** Lets everything inside go on, whoever had paused it. */
  end(id: string, container: string): Promise<void> {
    return this.#own.end(id, () => this.#release(id, container));
  }

  async #release(id: string, container: string): Promise<void> {
    try {
      await this.#connection.ask((docker) => docker.getContainer(container).unpause());
    } catch (error) {
      if (!isNotPaused(error)) throw error;
    }
    rmSync(this.#note(id), { force: true });
  }

  #note(id: string): string {
    return join(this.#folder, id);
  }
}

/** Not there, or not paused: of the latter older engines speak as of an error of their own. */
function isNotPaused(error: unknown): boolean {
  const status = statusOf(error);
  return status === 404 || status === 409 || /is not (paused|running)/.test((error as Error).message);
}
