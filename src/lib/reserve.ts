/**
 * Disk space and inodes that are kept back, so that a full filesystem can be freed: a folder of files that hold nothing but
 * space. They are given up a few at a time, because a program that fills the disk goes on and takes what it can get. A
 * crash anywhere leaves some of the files, and the next `fill` makes the others.
 */
import { randomFillSync } from 'node:crypto';
import { readdirSync, rmSync, type StatsFs, statfsSync } from 'node:fs';
import { mkdir, open, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { isFault } from '../model/fault.ts';
import { isErrno } from './file.ts';

const maxFileBytes = 256 * 1024;
const blockBytes = 4096;
const files = 64;
const filesAtOnce = 4;
/** The part of what is free that may be kept back. */
const share = 8;
/** How soon it is tried again to make what there was no room for. */
const againMs = 5000;

export interface Free {
  readonly bytes: number;
  /** Infinite where the filesystem makes inodes as they are needed. */
  readonly inodes: number;
  readonly totalBytes: number;
  readonly totalInodes: number;
}

export class Reserve {
  readonly #folder: string;
  #isWhole = false;
  #nextMs = 0;

  /** `folder` is for the reserve alone. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Makes what is missing, as far as there is room; never shrinks what is there. Costs nothing while all is there. */
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

  /** Removes a few files; false when none was left. */
  giveUp(): boolean {
    const names = namesIn(this.#folder).slice(0, filesAtOnce);
    for (const name of names) rmSync(join(this.#folder, name), { force: true });
    this.#isWhole = false;
    return names.length > 0;
  }

  /** Gives up as much as it takes to have so much free, or all there is. */
  provide(bytes: number): void {
    while ((freeAtSync(this.#folder)?.bytes ?? bytes) < bytes && this.giveUp());
  }

  /** Does something that may need space, again after each time that some was given up for it. */
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

/** Of a share of what is free, in whole blocks. */
function fileBytes({ bytes }: Free): number {
  const each = Math.min(maxFileBytes, bytes / share / files);
  return Math.floor(each / blockBytes) * blockBytes;
}

/** False where there is no room. Random, because some filesystems take zeros for nothing. */
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
    // It is full, or cannot be written, ignoring: what there is of the reserve stays.
    return false;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
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
