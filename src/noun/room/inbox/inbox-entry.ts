/**
 * An entry of an inbox. A sandbox may replace it at any time, so it is opened first, without following links and
 * without touching devices, and only the open descriptor is examined.
 */
import { closeSync, constants, fstatSync, openSync, type Stats } from 'node:fs';
import { O_PATH } from '../../../lib/file/anchor.ts';
import { isOpenForWriting } from '../../../lib/flow/lease.ts';
import { type FolderEntry, openAt, SysError } from '../../../lib/sys/sys.ts';

export const messageName = Buffer.from('message.md');

export type EntryState =
  | 'gone'
  /** Its writer has not finished; it is checked again later. */
  | 'unfinished'
  | 'ready';

/**
 * If the kernel cannot tell whether a file is open for writing, it counts as finished after this time without a change.
 */
const quietMs = 2000;

/** An entry that cannot be a message is `ready` too: it is taken out of the inbox, then refused. */
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
  // A file with several links is refused in any case, and the test for writers would put a lease on a file used
  // elsewhere.
  if (nlink !== 1) return true;
  const fd = reopened(pathFd, constants.O_RDONLY);
  if (fd === null) return true;
  try {
    return !(isOpenForWriting(fd) ?? Math.abs(nowMs - mtimeMs) < quietMs);
  } finally {
    closeSync(fd);
  }
}

/** Null: the entry does not exist. The descriptor is O_PATH: to read or write the file, open it with `reopened`. */
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

/** Opens the same file again, by its descriptor. Null: it cannot be opened with these flags. */
export function reopened(pathFd: number, flags: number): number | null {
  try {
    return openSync(`/proc/self/fd/${pathFd}`, flags | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    if (['EACCES', 'EPERM', 'ENXIO', 'ETXTBSY'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}
