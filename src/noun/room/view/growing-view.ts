/**
 * A file that grows by a piece of text for each message: order.log, thread.md. The caller stores the length that it
 * must have.
 */
import { closeSync, constants, ftruncateSync, openSync, readSync, renameSync, statSync, writeSync } from 'node:fs';

const { O_RDWR, O_CREAT, O_NOFOLLOW, O_TRUNC } = constants;

export class GrowingView {
  readonly path: string;
  readonly #fresh: string;
  #bytes: number;

  /** `fresh`: path of a new file while it is written, before it replaces a damaged one. */
  constructor(path: string, fresh: string, bytes: number) {
    this.path = path;
    this.#fresh = fresh;
    this.#bytes = bytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether the file is at least as long as recorded. */
  get isComplete(): boolean {
    return (statSync(this.path, { throwIfNoEntry: false })?.size ?? 0) >= this.#bytes;
  }

  /** Cuts the file to the recorded length: a crash may have left more. */
  cut(): void {
    using(this.path, O_RDWR | O_CREAT, (fd) => ftruncateSync(fd, this.#bytes));
  }

  /** Appends all of the text or nothing. */
  append(text: string): void {
    this.#bytes += using(this.path, O_RDWR | O_CREAT, (fd) => writeAt(fd, text, this.#bytes));
  }

  /** Whether the file has this text at this place. */
  has(text: string, at: number): boolean {
    const wanted = Buffer.from(text);
    const found = Buffer.alloc(wanted.length);
    try {
      return (
        using(this.path, O_RDWR, (fd) => readSync(fd, found, 0, found.length, at)) === wanted.length &&
        found.equals(wanted)
      );
    } catch {
      return false;
    }
  }

  /** Whether the file is exactly as long as recorded. */
  get endsThere(): boolean {
    return statSync(this.path, { throwIfNoEntry: false })?.size === this.#bytes;
  }

  /** Starts a new file; the present one stays unchanged until `replace`. */
  rewrite(): GrowingView {
    using(this.#fresh, O_RDWR | O_CREAT | O_TRUNC, () => {});
    return new GrowingView(this.#fresh, this.#fresh, 0);
  }

  replace(fresh: GrowingView): void {
    renameSync(fresh.path, this.path);
    this.#bytes = fresh.bytes;
  }
}

function writeAt(fd: number, text: string, at: number): number {
  const bytes = Buffer.from(text);
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, at + done);
  } catch (error) {
    ftruncateSync(fd, at);
    throw error;
  }
  return bytes.length;
}

function using<T>(path: string, flags: number, work: (fd: number) => T): T {
  const fd = openSync(path, flags | O_NOFOLLOW, 0o600);
  try {
    return work(fd);
  } finally {
    closeSync(fd);
  }
}
