/**
 * Reserved disk space and inodes, so that a full filesystem can be freed: a folder of files without meaning. They are
 * released a few at a time, because a program that fills the disk continues and takes all that is free. A crash at any point
 * leaves some of the files, and the next `fill` makes the others.
 */
import { randomFillSync } from 'node:crypto';
import { rmSync, type StatsFs, statfsSync } from 'node:fs';
import { mkdir, open, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { isFault } from '../../model/fault.ts';
import { isErrno } from './file.ts';
import { namesIn } from './names-in.ts';

const maxFileBytes = 256 * 1024;
const blockBytes = 4096;
const files = 64;
const filesAtOnce = 4;
/** The reserve takes at most one part in this many of the free space. */
const share = 8;
/** The wait before the next attempt to make files for which there was no space. */
const againMs = 5000;

export interface Free {
  readonly bytes: number;
  /** Infinite if the filesystem creates inodes on demand. */
  readonly inodes: number;
  readonly totalBytes: number;
  readonly totalInodes: number;
}

export class Reserve {
  readonly #folder: string;
  #isWhole = false;
  #nextMs = 0;

  /** `folder` has nothing but the reserve. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Makes missing files as far as there is space; never shrinks existing ones. Costs nothing while all exist. */
  async fill(): Promise<void> {
    if (this.#isWhole || performance.now() < this.#nextMs) return;
    this.#nextMs = performance.now() + againMs;
    this.#isWhole = await this.#grown();
  }

  async #grown(): Promise<boolean> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    let isWhole = true;
    for (let n = 0; n < files; n += 1) {
      const free = await freeAt(this.#folder);
      const bytes = fileBytes(free);
      if (free.inodes < share * files || !(await grow(join(this.#folder, String(n)), bytes))) return false;
      isWhole &&= bytes === maxFileBytes;
    }
    return isWhole;
  }

  /** Removes a few files; false: none was left. */
  giveUp(): boolean {
    const names = namesIn(this.#folder).slice(0, filesAtOnce);
    for (const name of names) rmSync(join(this.#folder, name), { force: true });
    this.#isWhole = false;
    return names.length > 0;
  }

  /** Releases files until this much is free, or until none is left. */
  provide(bytes: number): void {
    while ((freeAtSync(this.#folder)?.bytes ?? bytes) < bytes && this.giveUp());
  }

  /** Runs something that may need space, and retries it after each release. */
  with<T>(work: () => T): T {
    for (;;) {
      try {
        return work();
      } catch (error) {
        if (!isFull(error) || !this.giveUp()) throw error;
      }
    }
  }
}

function isFull(error: unknown): boolean {
  return isFault(error, 'exhausted') || isErrno(error, 'ENOSPC') || isErrno(error, 'EDQUOT');
}

/** The size of each file: a share of the free space, in whole blocks. */
function fileBytes({ bytes }: Free): number {
  const each = Math.min(maxFileBytes, bytes / share / files);
  return Math.floor(each / blockBytes) * blockBytes;
}

/** False: there is no space. Random bytes, because some filesystems do not store zeros. */
async function grow(path: string, bytes: number): Promise<boolean> {
  try {
    const file = await open(path, 'a', 0o600);
    try {
      const missing = bytes - (await file.stat()).size;
      if (missing > 0) await file.write(randomFillSync(Buffer.alloc(missing)));
    } finally {
      await file.close();
    }
    return true;
  } catch {
    // The disk is full, or the file cannot be written, ignoring: the files that exist stay.
    return false;
  }
}

export async function freeAt(folder: string): Promise<Free> {
  return freeOf(await statfs(folder));
}

function freeAtSync(folder: string): Free | null {
  try {
    return freeOf(statfsSync(folder));
  } catch {
    return null;
  }
}

function freeOf({ bavail, blocks, bsize, files, ffree }: StatsFs): Free {
  return {
    bytes: bavail * bsize,
    inodes: files === 0 ? Number.POSITIVE_INFINITY : ffree,
    totalBytes: blocks * bsize,
    totalInodes: files,
  };
}
