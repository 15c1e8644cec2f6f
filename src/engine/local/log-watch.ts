/** Keeps the earlier files of all logs as conmon replaces them, within moments and without looking at what is written. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { RenameWatch } from '../../lib/rename-watch.ts';
import { SysError } from '../../lib/sys.ts';
import { keepEarlier } from './log-file.ts';

export class LogWatch {
  readonly #files: number;
  readonly #renames: RenameWatch | null;

  /** What was replaced while nobody watched is dealt with first. */
  constructor(runs: string, files: number) {
    this.#files = files;
    this.#renames = tolerant(() => new RenameWatch((bundle) => keepEarlier(bundle, files))) ?? null;
    for (const id of readdirSync(runs)) this.add(join(runs, id));
  }

  add(bundle: string): void {
    tolerant(() => this.#renames?.add(bundle));
    keepEarlier(bundle, this.#files);
  }

  close(): void {
    this.#renames?.close();
  }
}

/** Where the kernel has nothing left to watch with, earlier files are kept whenever somebody reads the log. */
function tolerant<T>(attempt: () => T): T | undefined {
  try {
    return attempt();
  } catch (error) {
    if (error instanceof SysError) return undefined;
    throw error;
  }
}
