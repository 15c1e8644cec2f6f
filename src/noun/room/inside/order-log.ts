/**
 * `order.log`: the names of the files in processed/, one per line, in the order of the room. A reader finds its
 * position by bisection and reads on from there, so that reading does not get slower as the room grows.
 */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { isErrno } from '../../../lib/file/file.ts';

const chunkBytes = 64 * 1024;
/** Longer than any line. */
const lineBytes = 256;
const idLength = 26;

export class OrderLog {
  readonly #path: string;
  #fd: number | null = null;
  #at = 0;
  /** The last id that was read. */
  #last: string | null;

  /** Reads the names after that id; null: from the first line. */
  constructor(path: string, after: string | null) {
    this.#path = path;
    this.#last = after;
  }

  /** The next names, at most as many as fit into a chunk. Empty: there are no more now. */
  next(): string[] {
    if (!this.#isCurrent()) this.#open();
    if (this.#fd === null) return [];
    const text = readAt(this.#fd, this.#at, chunkBytes);
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    this.#at += whole.length;
    const names = whole.split('\n').slice(0, -1);
    this.#last = names.at(-1)?.slice(0, idLength) ?? this.#last;
    return names;
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  /** False: the file is not open, or was replaced or truncated. */
  #isCurrent(): boolean {
    if (this.#fd === null) return false;
    const [open, named] = [fstatSync(this.#fd), statSync(this.#path, { throwIfNoEntry: false })];
    return named === undefined || (open.ino === named.ino && open.dev === named.dev && open.size >= this.#at);
  }

  #open(): void {
    this.close();
    try {
      this.#fd = openSync(this.#path, 'r');
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return;
      throw error;
    }
    this.#at = this.#last === null ? 0 : offsetAfter(this.#fd, this.#last);
  }
}

/** Offset of the first line with a greater id. */
export function offsetAfter(fd: number, id: string): number {
  let [low, high] = [0, fstatSync(fd).size];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const start = lineStart(fd, middle);
    const line = readAt(fd, start, lineBytes).split('\n', 1)[0]!;
    if (line.slice(0, idLength) > id) high = start;
    else low = start + line.length + 1;
  }
  return low;
}

/** The last names, in the order of the file. */
export function lastNames(path: string, most: number): string[] {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return [];
  const fd = openSync(path, 'r');
  try {
    const from = lineStart(fd, Math.max(0, size - most * lineBytes));
    return readAt(fd, from, size - from)
      .split('\n')
      .slice(0, -1)
      .slice(-most);
  } finally {
    closeSync(fd);
  }
}

/** Offset of the start of the line that contains this byte. */
function lineStart(fd: number, at: number): number {
  const from = Math.max(0, at - lineBytes);
  return from + readAt(fd, from, at - from).lastIndexOf('\n') + 1;
}

function readAt(fd: number, at: number, bytes: number): string {
  const buffer = Buffer.alloc(bytes);
  return buffer.toString('latin1', 0, readSync(fd, buffer, 0, bytes, at));
}
