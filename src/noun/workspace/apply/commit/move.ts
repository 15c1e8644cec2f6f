/**
 * Renames that replace nothing. If the filesystem does not support them, the code checks the target and then renames.
 */
import { renameSync } from 'node:fs';
import { isErrno } from '../../../../lib/file/file.ts';
import { renameExchange, renameNoReplace, SysError } from '../../../../lib/sys/sys.ts';
import { type EntryLocation, folderEntry, lookAt, pathOf } from '../../tree/folders.ts';

/** ENOENT: the source is gone, and the plain rename reports that. */
const cannot = ['EINVAL', 'ENOSYS', 'EOPNOTSUPP', 'ENOENT'];

/** Throws EEXIST if the name is taken. */
export function move(from: EntryLocation, to: EntryLocation): void {
  if (tryRename(renameNoReplace, from, to)) return;
  if (lookAt(to)) throw Object.assign(new Error('rename: the name is taken'), { code: 'EEXIST' });
  renameSync(pathOf(from), pathOf(to));
}

/** False: the filesystem cannot exchange. */
export function exchange(one: EntryLocation, other: EntryLocation): boolean {
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
