/** Renames that replace nothing. Where the filesystem has none, a look before an ordinary rename has to do. */
import { renameSync } from 'node:fs';
import { isErrno } from '../../lib/file.ts';
import { type FolderEntry, renameExchange, renameNoReplace, SysError } from '../../lib/sys.ts';
import { toBytes } from '../../model/byte-path.ts';
import { type EntryLocation, lookAt, pathOf } from '../tree/folders.ts';

/** The last one: what was to be renamed is gone, as an ordinary rename will say. */
const cannot = ['EINVAL', 'ENOSYS', 'EOPNOTSUPP', 'ENOENT'];

/** EEXIST where something is there. */
export function move(from: EntryLocation, to: EntryLocation): void {
  if (tryRename(renameNoReplace, from, to)) return;
  if (lookAt(to)) throw Object.assign(new Error('rename: the name is taken'), { code: 'EEXIST' });
  renameSync(pathOf(from), pathOf(to));
}

/** False where that cannot be. */
export function exchange(one: EntryLocation, other: EntryLocation): boolean {
  return tryRename(renameExchange, one, other);
}

function tryRename(rename: typeof renameExchange, one: EntryLocation, other: EntryLocation): boolean {
  try {
    rename(entryOf(one), entryOf(other));
    return true;
  } catch (error) {
    if (error instanceof SysError && cannot.some((code) => isErrno(error, code))) return false;
    throw error;
  }
}

function entryOf({ folder, name }: EntryLocation): FolderEntry {
  return { folderFd: folder.fd, name: toBytes(name) };
}
