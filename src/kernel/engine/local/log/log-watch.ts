/** Keeps the earlier files of all logs as conmon replaces them, by watching folders instead of reading logs. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { FolderWatch } from '../../../../lib/file/folder-watch.ts';
import { SysError } from '../../../../lib/sys/sys.ts';
import { linkRotatedLogs } from './log-file.ts';

export class LogWatch {
  readonly #files: number;
  readonly #renames: FolderWatch | null;

  /** First keeps the files that were replaced before the watch existed. */
  constructor(runs: string, files: number) {
    this.#files = files;
    this.#renames = tolerant(() => new FolderWatch(['movedTo'], (bundle) => linkRotatedLogs(bundle, files))) ?? null;
    for (const id of readdirSync(runs)) this.add(join(runs, id));
  }

  add(bundle: string): void {
    tolerant(() => this.#renames?.add(bundle));
    linkRotatedLogs(bundle, this.#files);
  }

  close(): void {
    this.#renames?.close();
  }
}

/** When the kernel has no watches left, earlier files are kept whenever a log is read. */
function tolerant<T>(attempt: () => T): T | undefined {
  try {
    return attempt();
  } catch (error) {
    if (error instanceof SysError) return undefined;
    throw error;
  }
}
