/** The entry at a path at one moment, recorded precisely enough to detect any later change. Plain data. */
import { readlinkSync } from 'node:fs';
import type { Stat } from '../../../lib/sys/stat.ts';
import { type BytePath, fromBytes } from '../../../model/byte-path.ts';
import type { Entry, EntryType } from '../model/change.ts';
import { type EntryLocation, pathOf } from '../tree/folders.ts';
import { typeOf } from '../tree/tree.ts';

/** Has no device, whose number may differ after a reboot, and no `ctime`, which a rename changes. */
export interface Stamp {
  readonly ino: string;
  readonly type: EntryType;
  readonly mode: number;
  readonly sizeBytes: number;
  readonly mtimeNs: string;
  readonly uid: number;
  readonly gid: number;
  readonly target: BytePath | null;
}

export function stampOf(stats: Stat, location: EntryLocation | null): Stamp {
  const type = typeOf(stats);
  return {
    ino: `${stats.ino}`,
    type,
    mode: Number(stats.mode & 0o7777n),
    sizeBytes: type === 'file' ? Number(stats.size) : 0,
    mtimeNs: `${stats.mtimeNs}`,
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    target: type === 'link' && location ? fromBytes(readlinkSync(pathOf(location), { encoding: 'buffer' })) : null,
  };
}

export function entryOf({ type, mode, sizeBytes, target }: Stamp): Entry {
  return { type, mode: type === 'link' ? 0 : mode & 0o777, sizeBytes, target };
}

/** The same inode and type, changed or not. */
export function isIt(stats: Stat | null, stamp: Stamp): boolean {
  return stats !== null && `${stats.ino}` === stamp.ino && typeOf(stats) === stamp.type;
}

/** The same inode, and unchanged. A folder's times and size change with its entries and do not count. */
export function isUntouched(stats: Stat | null, stamp: Stamp): boolean {
  if (!isIt(stats, stamp) || stats === null) return false;
  if (stamp.type === 'link') return true;
  if (Number(stats.mode & 0o7777n) !== stamp.mode) return false;
  return stamp.type !== 'file' || (`${stats.mtimeNs}` === stamp.mtimeNs && Number(stats.size) === stamp.sizeBytes);
}
