/**
 * Entries that a participant keeps in its inbox without finishing them: names that begin with a dot, files that are
 * open, folders without `message.md`. They fill a disk of the host, so they are bounded. Beyond the bounds, the largest
 * are refused.
 */
import { type Dir, opendirSync, type Stats } from 'node:fs';
import type { FolderEntry } from '../../../lib/sys/sys.ts';
import { withEntry } from './inbox-entry.ts';

export const maxUnfinishedEntries = 1000;
export const maxUnfinishedBytes = 64 * 1024 * 1024;
const maxNames = 4 * maxUnfinishedEntries;
const checkMs = 5000;

export interface Excess {
  readonly name: Buffer;
  readonly reason: string;
  /** Stays the same as long as the file exists, so that repeated refusals of a file are recorded once. */
  readonly key: string;
}

interface Measured {
  readonly name: Buffer;
  readonly key: string;
  readonly entries: number;
  readonly bytes: number;
}

export class UnfinishedEntries {
  readonly #folderFd: number;
  readonly #nowMs: () => number;
  /** Encoded as latin1. */
  readonly #names = new Set<string>();
  #checkedAt = Number.NEGATIVE_INFINITY;

  constructor(folderFd: number, nowMs = () => performance.now()) {
    this.#folderFd = folderFd;
    this.#nowMs = nowMs;
  }

  /** False: there are too many names. */
  add(name: Buffer): boolean {
    if (this.#names.size >= maxNames) return false;
    this.#names.add(name.toString('latin1'));
    return true;
  }

  get isEmpty(): boolean {
    return this.#names.size === 0;
  }

  /** Too many names make a check due at once. */
  get isDue(): boolean {
    if (this.#names.size > maxUnfinishedEntries) return true;
    return !this.isEmpty && this.#nowMs() >= this.#checkedAt + checkMs;
  }

  /** Returns the entries to refuse. Forgets entries that no longer exist. */
  check(): Excess[] {
    this.#checkedAt = this.#nowMs();
    const all = [...this.#names].flatMap((name) => this.#measure(Buffer.from(name, 'latin1')) ?? []);
    this.#names.clear();
    const left = { entries: maxUnfinishedEntries, bytes: maxUnfinishedBytes };
    return all.sort(bySize).flatMap((one) => {
      left.entries -= one.entries;
      left.bytes -= one.bytes;
      const { name, key } = one;
      if (left.entries < 0)
        return [{ name, key, reason: `more than ${maxUnfinishedEntries} unfinished or hidden files` }];
      if (left.bytes < 0)
        return [{ name, key, reason: `more than ${maxUnfinishedBytes} bytes of unfinished or hidden files` }];
      this.add(name);
      return [];
    });
  }

  #measure(name: Buffer): Measured | null {
    return withEntry({ folderFd: this.#folderFd, name }, (fd, stat) => {
      const key = `held-${stat.dev}-${stat.ino}-${stat.birthtimeMs}`;
      return { name, key, ...(stat.isDirectory() ? sizeOfFolder(fd) : { entries: 1, bytes: bytesOf(stat) }) };
    });
  }
}

function bySize(one: Measured, other: Measured): number {
  return one.bytes - other.bytes || one.entries - other.entries;
}

/** Counts blocks on disk, so that the holes of a sparse file do not count. */
function bytesOf({ blocks }: Stats): number {
  return blocks * 512;
}

/** Counts the folder with its contents, and stops when the sum exceeds the bounds. */
function sizeOfFolder(pathFd: number): { readonly entries: number; readonly bytes: number } {
  const sum = { entries: 1, bytes: 0 };
  addContent(pathFd, sum, maxDepth);
  return sum;
}
const maxDepth = 16;

function addContent(pathFd: number, sum: { entries: number; bytes: number }, depth: number): void {
  if (depth === 0) sum.entries = maxUnfinishedEntries + 1;
  const folder = opendirSync(`/proc/self/fd/${pathFd}`, { encoding: 'buffer' as BufferEncoding });
  try {
    for (let name = nextName(folder); name !== null && isWithin(sum); name = nextName(folder))
      addEntry({ folderFd: pathFd, name }, sum, depth);
  } finally {
    folder.closeSync();
  }
}

function addEntry(entry: FolderEntry, sum: { entries: number; bytes: number }, depth: number): void {
  withEntry(entry, (fd, stat) => {
    sum.entries += 1;
    sum.bytes += bytesOf(stat);
    if (stat.isDirectory()) addContent(fd, sum, depth - 1);
  });
}

function isWithin({ entries, bytes }: { readonly entries: number; readonly bytes: number }): boolean {
  return entries <= maxUnfinishedEntries && bytes <= maxUnfinishedBytes;
}

function nextName(folder: Dir): Buffer | null {
  return (folder.readSync()?.name as unknown as Buffer | undefined) ?? null;
}
