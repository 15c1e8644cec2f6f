/**
 * Changes entries in folders that an agent may write to, too. Each entry is held open meanwhile, so that another entry
 * that takes its name, above all a link, is not touched.
 */
import { chmodSync, chownSync, closeSync, constants, openSync, readdirSync } from 'node:fs';
import { O_PATH } from '../../../lib/file/anchor.ts';
import { isErrno } from '../../../lib/file/file.ts';
import { type Stat, statOf } from '../../../lib/sys/stat.ts';
import { toText } from '../../../model/byte-path.ts';
import { Fault } from '../../../model/fault.ts';
import type { EntryType } from '../model/change.ts';
import { type EntryLocation, pathOf } from './folders.ts';
import { typeOf } from './tree.ts';

/** Null: there is no entry. */
export function withEntryOpen<T>(location: EntryLocation, work: (fd: number) => T): T | null {
  const fd = tryOpen(location);
  if (fd === null) return null;
  try {
    return work(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Like `withEntryOpen`, for an entry that was made just before. `conflict`: it is of another type by now, or a folder
 * with entries, whose owner must not change. Its present owner proves nothing: some filesystems give every file to one
 * account.
 */
export function withNewEntryOpen<T>(location: EntryLocation, type: EntryType, work: (fd: number) => T): T {
  const done = withEntryOpen(location, (fd) => {
    const isNew = typeOf(statOf(fd)) === type && (type !== 'folder' || isEmpty(fd));
    return isNew ? { value: work(fd) } : null;
  });
  if (done === null) throw changedByOther(location);
  return done.value;
}

function isEmpty(fd: number): boolean {
  return readdirSync(byDescriptor(fd)).length === 0;
}

export function changedByOther({ name }: EntryLocation): Fault {
  return new Fault('conflict', `${toText(name)} was changed by another program while it was being made`, {
    hint: 'Try again.',
  });
}

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Without root the owner stays the account of the daemon. */
export function setOwner(fd: number, owner: Owner): void {
  setOwnerAndStat(fd, owner);
}

/** Like `setOwner`; returns the stat afterwards. */
export function setOwnerAndStat(fd: number, { uid, gid }: Owner): Stat {
  const stats = statOf(fd);
  if (Number(stats.uid) === uid && Number(stats.gid) === gid) return stats;
  try {
    chownSync(byDescriptor(fd), uid, gid);
  } catch (error) {
    if (!isErrno(error, 'EPERM') && !isErrno(error, 'EINVAL')) throw error;
  }
  return statOf(fd);
}

/** The entry must not be a link, which has no mode. */
export function setMode(fd: number, mode: number): void {
  chmodSync(byDescriptor(fd), mode);
}

/** Leads to the open entry itself, even if that is a link. */
function byDescriptor(fd: number): string {
  return `/proc/self/fd/${fd}`;
}

function tryOpen(location: EntryLocation): number | null {
  try {
    return openSync(pathOf(location), O_PATH | constants.O_NOFOLLOW);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    throw error;
  }
}
