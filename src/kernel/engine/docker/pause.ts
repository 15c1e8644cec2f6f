/**
 * Pauses sandboxes for work of the daemon. A note in the engine's folder names each pause: a pause that this instance
 * did not make was left by a crash, and the next inspection ends it.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { OwnPauses } from '../own-pauses.ts';
import { type Connection, statusOf } from './connection/connection.ts';

export class DockerPauses {
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

  /** Whether the pause was made by an instance that no longer runs. */
  isAbandoned(id: string): boolean {
    return !this.#own.has(id) && existsSync(this.#note(id));
  }

  /** `begun` settles when all execs have entered the sandbox, so that the pause holds them too. */
  begin(id: string, container: string, begun: () => Promise<unknown>): Promise<void> {
    const hold = async () => {
      await begun();
      writeFileSync(this.#note(id), '', { mode: 0o600 });
      await this.#connection.ask((docker) => docker.getContainer(container).pause());
      crashPoint('pause:held');
    };
    return this.#own.begin(id, hold, () => this.#release(id, container));
  }

  /** Resumes everything inside, also after a pause from outside. */
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

/** The container is absent or not paused; older engines report the latter as a server error. */
function isNotPaused(error: unknown): boolean {
  const status = statusOf(error);
  return status === 404 || status === 409 || /is not (paused|running)/.test((error as Error).message);
}
