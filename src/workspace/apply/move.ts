/** Renames that replace nothing. Where the filesystem has none, a look before an ordinary rename has to do. */
import { renameSync } from 'node:fs';
import { isErrno } from '../../lib/file.ts';
import { type Place, renameExchange, renameNoReplace, SysError } from '../../lib/sys.ts';
import { toBytes } from '../../model/byte-path.ts';
import { lookAt, pathOf, type Spot } from '../tree/folders.ts';

/** The last one: what was to be renamed is gone, as an ordinary rename will say. */
const cannot = ['EINVAL', 'ENOSYS', 'EOPNOTSUPP', 'ENOENT'];

/** EEXIST where something is there. */
export function move(from: Spot, to: Spot): void {
  if (tryRename(renameNoReplace, from, to)) return;
  if (lookAt(to)) throw Object.assign(new Error('rename: the name is taken'), { code: 'EEXIST' });
  renameSync(pathOf(from), pathOf(to));
}

/** False where that cannot be. */
export function exchange(one: Spot, other: Spot): boolean {
  return tryRename(renameExchange, one, other);
}

function tryRename(rename: typeof renameExchange, one: Spot, other: Spot): boolean {
  try {
    rename(placeOf(one), placeOf(other));
    return true;
  } catch (error) {
    if (error instanceof SysError && cannot.some((code) => isErrno(error, code))) return false;
    throw error;
  }
}

function placeOf({ folder, name }: Spot): Place {
  return { folderFd: folder.fd, name: toBytes(name) };
}
