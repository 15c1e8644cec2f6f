/** Entries of folders, compared by what `stat` says about them. */
import { lstatSync, statfsSync } from 'node:fs';

/** Overlay, FUSE, 9P and NFS: a change in a lower layer or on the other side causes no event here. */
const silentTypes = [0x794c7630, 0x65735546, 0x01021997, 0x6969];

export function sendsEvents(folder: string): boolean {
  return !silentTypes.includes(statfsSync(folder).type);
}

/** Null: the path does not exist, or is neither a folder nor a file. */
export function stampOf(path: string): string | null {
  const stat = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  // Inode numbers are reused, so the time of birth is included.
  if (stat?.isDirectory()) return `/${stat.ino}:${stat.birthtimeNs}`;
  return stat?.isFile() ? `${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}` : null;
}

export function isFolder(stamp: string | null): boolean {
  return stamp?.startsWith('/') ?? false;
}
