/** Flushes the log of a store to disk without blocking the daemon. Writes that arrive together share a flush. */
import { closeSync, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';

type FlushFile = (fd: number) => Promise<void>;

export class LogFlush {
  readonly #fd: number;
  readonly #flushFile: FlushFile;
  #current: Promise<void> | null = null;
  /** The flush that begins when the current one is over: that one may have begun before the last write. */
  #next: Promise<void> | null = null;

  /** SQLite has no locks on its log, so the log may be opened and closed here, too. */
  constructor(path: string, flushFile: FlushFile = promisify(fdatasync)) {
    this.#fd = openSync(path, 'r');
    this.#flushFile = flushFile;
  }

  flush(): Promise<void> {
    if (this.#current === null) return this.#begin();
    this.#next ??= this.#current.then(
      () => this.#begin(),
      () => this.#begin(),
    );
    return this.#next;
  }

  #begin(): Promise<void> {
    this.#next = null;
    const flush = this.#flushFile(this.#fd).finally(() => {
      if (this.#current === flush) this.#current = null;
    });
    this.#current = flush;
    return flush;
  }

  /** Closes the descriptor after the flushes under way, which need it. */
  close(): void {
    const over = async () => closeSync(this.#fd);
    void (this.#next ?? this.#current ?? Promise.resolve()).then(over, over);
  }
}
