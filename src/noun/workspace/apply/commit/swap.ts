/**
 * Exchanges an entry of the project with one in the staging folder; either may be absent. The state is read from both folders,
 * not remembered, so that the exchange and its reversal can both be repeated after a crash.
 */
import { renameSync } from 'node:fs';
import { type Anchor, within } from '../../../../lib/file/anchor.ts';
import { isErrno } from '../../../../lib/file/file.ts';
import type { Stat } from '../../../../lib/sys/stat.ts';
import { renameExchange, renameNoReplace, SysError } from '../../../../lib/sys/sys.ts';
import { toBytes } from '../../../../model/byte-path.ts';
import { type EntryLocation, folderEntry, lookAt, pathOf } from '../../tree/folders.ts';
import { unlessGone } from '../../tree/tree.ts';
import type { Swap } from '../journal.ts';
import { isIt, isUntouched } from '../stamp.ts';

export class Swapping {
  readonly #swap: Swap;
  /** Null: the folder of the path is gone. */
  readonly #target: EntryLocation | null;
  /** Holds `put` before the exchange, and `old` after it. */
  readonly #slot: EntryLocation;
  /** Holds `old` if the filesystem cannot exchange. */
  readonly #aside: EntryLocation;

  constructor(swap: Swap, target: EntryLocation | null, staging: Anchor) {
    this.#swap = swap;
    this.#target = target;
    this.#slot = { folder: staging, name: `${swap.slot}` };
    this.#aside = { folder: staging, name: `${swap.slot}.old` };
  }

  /**
   * The location of the entry that came out of the project. It may differ from `old`, if the owner has replaced that.
   */
  displaced(): EntryLocation | null {
    const { put } = this.#swap;
    const inSlot = lookAt(this.#slot);
    if (inSlot !== null && (put === null || !isIt(inSlot, put))) return this.#slot;
    return lookAt(this.#aside) === null ? null : this.#aside;
  }

  isDone(): boolean {
    const { put } = this.#swap;
    return put === null ? this.displaced() !== null : !isIt(lookAt(this.#slot), put);
  }

  /** True: the entry that came out is `old`, unchanged. */
  isRight(): boolean {
    const { old, again } = this.#swap;
    if (again) return false;
    return old === null || [this.#slot, this.#aside].some((location) => isUntouched(lookAt(location), old));
  }

  /** False: the project has another entry than `old`. `fresh`: the step was not tried before. */
  do(fresh = false): boolean {
    const { old, put } = this.#swap;
    const target = this.#target;
    if (!fresh && this.isDone()) return true;
    if (target === null) return false;
    const now = lookAt(target);
    if (old && isUntouched(now, old)) return this.#takeOut(target);
    // There was no old entry, or it is out of the project already.
    const free = old === null || (put !== null && lookAt(this.#aside) !== null);
    return now === null && free && moved(this.#slot, target);
  }

  /** False: the new entry was changed since, so it stays. */
  undo(): boolean {
    const { old, put } = this.#swap;
    if (!this.isDone()) return this.#undoHalf();
    if (this.#target === null) return old === null;
    const now = lookAt(this.#target);
    if (put === null) return now === null && moved(this.displaced()!, this.#target);
    if (old === null && now === null) return true;
    // A crash interrupted an earlier undo between the exchange and the check whether the owner had written to the file.
    if (old !== null && isUntouched(now, old)) return this.#giveBack();
    if (!this.#isPut(now)) return false;
    if (put.type === 'folder') return this.#undoFolder(this.#target);
    return this.#putBack(this.#target) && this.isBack();
  }

  /**
   * After `undo`: true if the entry that came out is `put`, unchanged. False: the owner had changed it, and it is back
   * in the project.
   */
  isBack(): boolean {
    const { put } = this.#swap;
    const now = lookAt(this.#slot);
    if (put === null || put.type === 'folder' || now === null || this.#isPut(now)) return true;
    return this.#giveBack();
  }

  /** True: the entry is `put`, unchanged. */
  #isPut(stats: Stat | null): boolean {
    const { put, again } = this.#swap;
    if (put === null || stats === null) return false;
    return isUntouched(stats, again ? { ...put, sizeBytes: Number(stats.size) } : put);
  }

  /**
   * Puts an entry that the owner has changed back in its place, and takes the entry that it had replaced out again.
   * Always returns false.
   */
  #giveBack(): false {
    const target = this.#target;
    const slot = this.#slot;
    if (target === null || exchange(slot, target)) return false;
    if (this.#swap.old !== null) moved(target, this.#aside);
    moved(slot, target);
    return false;
  }

  #takeOut(target: EntryLocation): boolean {
    if (this.#swap.put === null) return moved(target, this.#slot);
    if (exchange(this.#slot, target)) return true;
    return moved(target, this.#aside) && moved(this.#slot, target);
  }

  #undoHalf(): boolean {
    if (lookAt(this.#aside) === null) return true;
    return this.#target !== null && moved(this.#aside, this.#target);
  }

  #putBack(target: EntryLocation): boolean {
    const displaced = this.displaced();
    if (this.#swap.old !== null && displaced === null) return false;
    if (displaced === this.#slot && exchange(this.#slot, target)) return true;
    if (displaced === this.#slot) renameSync(pathOf(this.#slot), pathOf(this.#aside));
    return moved(target, this.#slot) && (displaced === null || moved(this.#aside, target));
  }

  /** A folder that is not empty stays, even if it got its entry during the exchange. */
  #undoFolder(target: EntryLocation): boolean {
    if (!isEmpty(target) || !this.#putBack(target)) return false;
    if (isEmpty(this.#slot)) return true;
    this.do();
    return false;
  }
}

function isEmpty({ folder, name }: EntryLocation): boolean {
  return unlessGone(() => within(folder.enter(toBytes(name)), (opened) => opened.names().length === 0)) ?? false;
}

function moved(from: EntryLocation, to: EntryLocation): boolean {
  try {
    move(from, to);
    return true;
  } catch (error) {
    if (isErrno(error, 'EEXIST') || isErrno(error, 'ENOENT')) return false;
    throw error;
  }
}

/** If the filesystem does not support such renames. ENOENT: the source is gone, and the plain rename reports that. */
const cannot = ['EINVAL', 'ENOSYS', 'EOPNOTSUPP', 'ENOENT'];

/** A rename that replaces nothing. Throws EEXIST if the name is taken. */
function move(from: EntryLocation, to: EntryLocation): void {
  if (tryRename(renameNoReplace, from, to)) return;
  if (lookAt(to)) throw Object.assign(new Error('rename: the name is taken'), { code: 'EEXIST' });
  renameSync(pathOf(from), pathOf(to));
}

/** False: the filesystem cannot exchange. */
function exchange(one: EntryLocation, other: EntryLocation): boolean {
  return tryRename(renameExchange, one, other);
}

function tryRename(rename: typeof renameExchange, one: EntryLocation, other: EntryLocation): boolean {
  try {
    rename(folderEntry(one), folderEntry(other));
    return true;
  } catch (error) {
    if (error instanceof SysError && cannot.some((code) => isErrno(error, code))) return false;
    throw error;
  }
}
