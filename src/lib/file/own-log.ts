/**
 * The log of a background process: its stderr. That is a file if the parent process opened one, or else a terminal or a pipe.
 * Only a file is rotated when it is full.
 */
import { closeSync, fstatSync, readlinkSync, writeSync } from 'node:fs';
import { replaceDescriptor } from '../sys/sys.ts';
import { logBytes, logFiles, openLog, rotate } from './rotate.ts';

export interface OwnLogOptions {
  readonly maxBytes?: number;
  readonly files?: number;
  /** The log writes to the first one; all of them lead to the file. */
  readonly descriptors?: readonly [number, ...number[]];
}

export class OwnLog {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #files: number;
  readonly #descriptors: readonly [number, ...number[]];

  constructor(path: string, { maxBytes = logBytes, files = logFiles, descriptors = [2, 1] }: OwnLogOptions = {}) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#files = files;
    this.#descriptors = descriptors;
  }

  /** `text` has whole lines. */
  write(text: string): void {
    const [descriptor] = this.#descriptors;
    if (fstatSync(descriptor).size + text.length > this.#maxBytes) this.#renew(descriptor);
    writeSync(descriptor, text);
  }

  /** If another program has rotated the file already, only a new one is opened. */
  #renew(descriptor: number): void {
    const now = readlinkSync(`/proc/self/fd/${descriptor}`);
    if (!now.startsWith(this.#path)) return;
    if (now === this.#path) rotate(this.#path, this.#files);
    const fresh = openLog(this.#path);
    for (const one of this.#descriptors) replaceDescriptor(fresh, one);
    closeSync(fresh);
  }
}
