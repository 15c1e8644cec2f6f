/** The total bytes of a sandbox, kept across restarts of the proxy. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readIfThere } from '../../../../lib/file/file.ts';

/** The interval of writes: a crash of the proxy loses the bytes of at most this time. */
const everyMs = 1000;

export class UsageFile {
  readonly #folder: string;
  readonly #path: string;
  #writtenMs = 0;

  constructor(folder: string) {
    this.#folder = folder;
    this.#path = join(folder, 'network.used');
  }

  read(): number {
    const bytes = Number(readIfThere(this.#path) ?? 0);
    return Number.isSafeInteger(bytes) ? bytes : 0;
  }

  /** Writes at most once per interval. */
  note(bytes: number): void {
    if (Date.now() - this.#writtenMs >= everyMs) this.close(bytes);
  }

  close(bytes: number): void {
    this.#writtenMs = Date.now();
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      writeFileSync(`${this.#path}.tmp`, String(bytes), { mode: 0o600 });
      renameSync(`${this.#path}.tmp`, this.#path);
    } catch {
      // The folder is being removed, or the disk is full; the number in memory counts, ignoring.
    }
  }
}
