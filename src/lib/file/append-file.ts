/** A file that grows by whole lines. Its one writer holds it open. */
import {
  chmodSync,
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { Fault } from '../../model/fault.ts';
import { allocate } from '../sys/sys.ts';

const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
const newline = 0x0a;

/** Opens a file for this account alone, and creates it if absent. Links are refused. */
export function openOwn(path: string, flags = 0): { readonly fd: number; readonly size: number } {
  const fd = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW | flags, 0o600);
  const stat = fstatSync(fd);
  if (!stat.isFile() || stat.nlink !== 1) {
    closeSync(fd);
    throw new Fault('denied', `${path} is not a regular file without other hard links`, { hint: 'Move it away.' });
  }
  if ((stat.mode & 0o077) !== 0) chmodSync(`/proc/self/fd/${fd}`, 0o600);
  return { fd, size: stat.size };
}

export class AppendFile {
  readonly #fd: number;
  #size: number;

  /** Ends an incomplete last line that a crash left, so that the next line begins on its own. */
  constructor(path: string) {
    const { fd, size } = openOwn(path, O_APPEND);
    this.#fd = fd;
    this.#size = size;
    if (this.#isTorn()) this.append('\n');
  }

  /** True: the file was removed, and lines that are written to it are lost. */
  get isGone(): boolean {
    return fstatSync(this.#fd).nlink === 0;
  }

  get size(): number {
    return this.#size;
  }

  /** Writes the whole text or nothing. */
  append(text: string): void {
    const bytes = Buffer.from(text);
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#fd, bytes, done);
    } catch (error) {
      ftruncateSync(this.#fd, this.#size);
      throw error;
    }
    this.#size += bytes.length;
  }

  /** Reserves space, if the filesystem can: this much can then be appended on a full disk. */
  keepSpace(bytes: number): void {
    try {
      allocate(this.#fd, this.#size + bytes);
    } catch {
      // There is no space, or the filesystem cannot reserve any, ignoring: then each line needs free space.
    }
  }

  clear(): void {
    ftruncateSync(this.#fd, 0);
    this.#size = 0;
  }

  /** Starts a flush to disk. If it fails, the next call flushes again, ignoring. */
  sync(): void {
    fdatasync(this.#fd, () => {});
  }

  flush(): void {
    fsyncSync(this.#fd);
  }

  close(): void {
    this.flush();
    closeSync(this.#fd);
  }

  /** Closes the file without waiting for the disk. */
  release(): void {
    closeSync(this.#fd);
  }

  #isTorn(): boolean {
    const last = Buffer.alloc(1);
    return this.#size > 0 && readSync(this.#fd, last, 0, 1, this.#size - 1) === 1 && last[0] !== newline;
  }
}
