/** A file that only grows, by whole lines. Its one writer holds it open. */
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
import { Fault } from '../model/fault.ts';
import { allocate } from './sys.ts';

const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
const newline = 0x0a;

/** A file that is ours alone, made where there is none; never through a link. */
export function openOwn(path: string, flags = 0): { readonly fd: number; readonly size: number } {
  const fd = openSync(path, O_RDWR | O_CREAT | O_NOFOLLOW | flags, 0o600);
  const stat = fstatSync(fd);
  if (!stat.isFile() || stat.nlink !== 1) {
    closeSync(fd);
    throw new Fault('denied', `${path} is not a file of its own`, { hint: 'Move it away.' });
  }
  if ((stat.mode & 0o077) !== 0) chmodSync(`/proc/self/fd/${fd}`, 0o600);
  return { fd, size: stat.size };
}

export class AppendFile {
  readonly #fd: number;
  #size: number;

  /** What a crash left of a last line is ended, so that the next one begins on its own. */
  constructor(path: string) {
    const { fd, size } = openOwn(path, O_APPEND);
    this.#fd = fd;
    this.#size = size;
    if (this.#isTorn()) this.append('\n');
  }

  /** Somebody removed it; what is written goes nowhere. */
  get isGone(): boolean {
    return fstatSync(this.#fd).nlink === 0;
  }

  get size(): number {
    return this.#size;
  }

  /** All of it is in the file when this returns, or nothing of it. */
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

  /** From then on so much more can be appended on a full disk, where the filesystem can keep space. */
  keepSpace(bytes: number): void {
    try {
      allocate(this.#fd, this.#size + bytes);
    } catch {
      // There is none, or the filesystem cannot, ignoring: then each line needs space of its own.
    }
  }

  clear(): void {
    ftruncateSync(this.#fd, 0);
    this.#size = 0;
  }

  /** From then on no power cut takes it back. One that fails is tried again with the next, ignoring. */
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

  /** Without waiting for the disk. */
  release(): void {
    closeSync(this.#fd);
  }

  #isTorn(): boolean {
    const last = Buffer.alloc(1);
    return this.#size > 0 && readSync(this.#fd, last, 0, 1, this.#size - 1) === 1 && last[0] !== newline;
  }
}
