/**
 * What lies under a name in an inbox. A sandbox may replace it at any time, so it is opened first, without following links and
 * without touching devices, and everything is asked of what was opened.
 */
import { closeSync, constants, fstatSync, openSync, type Stats } from 'node:fs';
import { O_PATH } from '../lib/anchor.ts';
import { isOpenForWriting } from '../lib/lease.ts';
import { type FolderEntry, openAt, SysError } from '../lib/sys.ts';

export const messageName = Buffer.from('message.md');

export type EntryState =
  | 'gone'
  /** Its writer has not finished; it is looked at again later. */
  | 'unfinished'
  | 'ready';

/** Where the kernel does not say whether a file is open, its writer has finished when it did not change it for this long. */
const quietMs = 2000;

/** Everything but an unfinished file or folder is ready: what cannot be a message is taken to be refused. */
export function stateOf(entry: FolderEntry, nowMs: number): EntryState {
  const state = withEntry(entry, (fd, stat): EntryState => {
    if (stat.isFile()) return isQuiet(fd, stat, nowMs) ? 'ready' : 'unfinished';
    return stat.isDirectory() ? folderState(fd, nowMs) : 'ready';
  });
  return state ?? 'gone';
}

/** A folder is finished when its `message.md` is. */
function folderState(folderFd: number, nowMs: number): EntryState {
  const state = stateOf({ folderFd, name: messageName }, nowMs);
  return state === 'ready' ? 'ready' : 'unfinished';
}

function isQuiet(pathFd: number, { mtimeMs, nlink }: Stats, nowMs: number): boolean {
  // It is refused, finished or not. A lease on another name's file would only be in the way.
  if (nlink !== 1) return true;
  const fd = reopened(pathFd, constants.O_RDONLY);
  if (fd === null) return true;
  try {
    return !(isOpenForWriting(fd) ?? Math.abs(nowMs - mtimeMs) < quietMs);
  } finally {
    closeSync(fd);
  }
}

/** Null: nothing has that name. The descriptor is good for `fstat` and `reopened` only. */
export function withEntry<T>(entry: FolderEntry, work: (pathFd: number, stat: Stats) => T): T | null {
  const fd = openEntry(entry);
  if (fd === null) return null;
  try {
    return work(fd, fstatSync(fd));
  } finally {
    closeSync(fd);
  }
}

function openEntry(entry: FolderEntry): number | null {
  try {
    return openAt(entry, O_PATH | constants.O_NOFOLLOW);
  } catch (error) {
    if (error instanceof SysError && error.code === 'ENOENT') return null;
    throw error;
  }
}

/** The very file that was opened before. Null: it may not be opened so. */
export function reopened(pathFd: number, flags: number): number | null {
  try {
    return openSync(`/proc/self/fd/${pathFd}`, flags | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    if (['EACCES', 'EPERM', 'ENXIO', 'ETXTBSY'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}
