/**
 * Entries in folders that an agent may write to as well, each held open while something is done to it. Whatever takes its
 * name meanwhile, a link above all, is left alone.
 */
import {
  type BigIntStats,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
} from 'node:fs';
import { O_PATH } from '../../lib/anchor.ts';
import { isErrno } from '../../lib/file.ts';
import { toText } from '../../model/byte-path.ts';
import type { EntryType } from '../../model/change.ts';
import { Fault } from '../../model/fault.ts';
import { type EntryLocation, pathOf } from './folders.ts';
import { typeOf } from './tree.ts';

/** Null: there is nothing. */
export function holding<T>(location: EntryLocation, work: (fd: number) => T): T | null {
  const fd = tryOpen(location);
  if (fd === null) return null;
  try {
    return work(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * What we have made there just now. `conflict` when it is of another type by now, or a folder with something in it, which
 * is not ours to give away. Its owner says nothing: some filesystems make everything somebody's.
 */
export function holdingNew<T>(location: EntryLocation, type: EntryType, work: (fd: number) => T): T {
  const done = holding(location, (fd) => {
    const isNew = typeOf(statsOf(fd)) === type && (type !== 'folder' || isEmpty(fd));
    return isNew ? { value: work(fd) } : null;
  });
  if (done === null) throw interfered(location);
  return done.value;
}

function isEmpty(fd: number): boolean {
  return readdirSync(byDescriptor(fd)).length === 0;
}

export function interfered({ name }: EntryLocation): Fault {
  return new Fault('conflict', `somebody else changed ${toText(name)} while it was being made`, { hint: 'Try again.' });
}

export function statsOf(fd: number): BigIntStats {
  return fstatSync(fd, { bigint: true });
}

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Who is not root makes everything in his own name. */
export function give(fd: number, { uid, gid }: Owner): void {
  const stats = statsOf(fd);
  if (Number(stats.uid) === uid && Number(stats.gid) === gid) return;
  try {
    chownSync(byDescriptor(fd), uid, gid);
  } catch (error) {
    if (!isErrno(error, 'EPERM') && !isErrno(error, 'EINVAL')) throw error;
  }
}

/** Not of a link, which has none. */
export function setMode(fd: number, mode: number): void {
  chmodSync(byDescriptor(fd), mode);
}

/** Leads to the open thing itself, even if that is a link. */
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
