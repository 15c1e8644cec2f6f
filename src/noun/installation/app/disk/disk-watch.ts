/**
 * Watches the disk of the home, because limits on disk are only advisory for most sandboxes. When less space is free
 * than must stay free, the watch stops the sandbox that grew most since twice that much was free; if something else
 * fills the disk, it stops none. A daemon that finds the disk full stops a sandbox that takes at least half of the used
 * space. The watch also fills the reserve again when there is space.
 */
import type { Free, Reserve } from '../../../../lib/file/reserve.ts';
import { asFault, type Fault } from '../../../../model/fault.ts';
import { formatSize } from '../../../../model/size.ts';
import { fastestGrowth, type Growth, holderOf, type Measured, type Resource } from './growth.ts';

export interface DiskWatchParts {
  readonly reserve: Pick<Reserve, 'fill'>;
  readonly free: () => Promise<Free>;
  /** Null: decided by the size of the disk. 0: nothing is stopped. */
  readonly keepFreeBytes: () => number | null;
  /** What each running sandbox takes, by id. */
  readonly measure: (what: Resource) => Promise<ReadonlyMap<string, number>>;
  readonly stop: (id: string, reason: string) => Promise<void>;
  readonly report: (id: string, fault: Fault) => void;
}

const pauseMs = 500;
/** The pause while less than `close` times the space to keep free is free. */
const closeMs = 100;
const close = 8;
/** If more than this part (1/8) of the space to keep free was freed, growth is measured from there. */
const freedPart = 8;
/** Measuring takes at most this share of the time. */
const share = 0.25;
const MiB = 1024 ** 2;
const defaultKept = { least: 64 * MiB, most: 512 * MiB, inodes: 10_000 };
/** The part of a disk that is kept free by default; `most` limits it on a small disk. */
const part = { usual: 1 / 50, most: 1 / 8 };

export class DiskWatch {
  readonly #parts: DiskWatchParts;
  readonly #before: { [what in Resource]: (Measured & { readonly isMeasured: boolean }) | null } = {
    bytes: null,
    inodes: null,
  };
  #timer: NodeJS.Timeout | null = null;
  #isOver = false;

  constructor(parts: DiskWatchParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#after(0);
  }

  stop(): void {
    this.#isOver = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #after(ms: number): void {
    if (this.#isOver) return;
    this.#timer = setTimeout(() => void this.#round(), ms);
    this.#timer.unref();
  }

  async #round(): Promise<void> {
    const from = performance.now();
    let wait = pauseMs;
    try {
      wait = (await this.check()) ? closeMs : pauseMs;
    } catch (error) {
      this.#parts.report('disk', asFault(error));
    }
    this.#after(Math.max(wait, (performance.now() - from) / share));
  }

  /** Measures the free space once; true when little is left. */
  async check(): Promise<boolean> {
    const free = await this.#parts.free();
    await this.#parts.reserve.fill();
    const kept = keptFree(free, this.#parts.keepFreeBytes());
    if (kept === null) return false;
    await this.#checkResource('bytes', free.bytes, kept.bytes, free.totalBytes);
    await this.#checkResource('inodes', free.inodes, kept.inodes, free.totalInodes);
    return free.bytes < close * kept.bytes || free.inodes < close * kept.inodes;
  }

  async #checkResource(what: Resource, free: number, kept: number, total: number): Promise<void> {
    const before = this.#before[what];
    if (free >= 2 * kept) {
      this.#before[what] = { free, taken: new Map(), isMeasured: false };
    } else if (before === null || free > before.free + kept / freedPart || (free >= kept && !before.isMeasured)) {
      const now = await this.#measured(what, free);
      this.#before[what] = now;
      if (before === null && free < kept) await this.#stop(what, holderOf(now.taken, total - free));
    } else if (free < kept && free < before.free) {
      const now = await this.#measured(what, free);
      this.#before[what] = now;
      await this.#stop(what, fastestGrowth(before, now));
    }
  }

  async #stop(what: Resource, growth: Growth | null): Promise<void> {
    if (growth !== null) await this.#parts.stop(growth.id, reasonOf(what, growth));
  }

  async #measured(what: Resource, free: number): Promise<Measured & { readonly isMeasured: boolean }> {
    return { free, taken: await this.#parts.measure(what), isMeasured: true };
  }
}

function reasonOf(what: Resource, { grown }: Growth): string {
  return `disk almost full: it took ${what === 'bytes' ? formatSize(grown) : `${grown} files`}`;
}

function keptFree({ totalBytes, totalInodes }: Free, given: number | null): { [what in Resource]: number } | null {
  if (given === 0) return null;
  const usual = Math.max(defaultKept.least, Math.min(defaultKept.most, totalBytes * part.usual));
  return {
    bytes: given ?? Math.min(usual, totalBytes * part.most),
    inodes: Math.min(defaultKept.inodes, totalInodes * part.usual),
  };
}
