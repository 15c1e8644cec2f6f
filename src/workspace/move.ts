/** Renames that replace nothing. Where the filesystem has none, a look before an ordinary rename has to do. */
import { renameSync } from 'node:fs';
import { isErrno } from '../lib/file.ts';
import { renameExchange, renameNoReplace, SysError } from '../lib/sys.ts';
import { lookAt, type Spot } from './folders.ts';

/** EEXIST where something is there. */
export function move(from: Spot, to: Spot): void {
  if (tryRename(renameNoReplace, from, to)) return;
  if (lookAt(to)) throw Object.assign(new Error('rename: the name is taken'), { code: 'EEXIST' });
  renameSync(from.folder.at(from.name), to.folder.at(to.name));
}

/** False where the filesystem cannot. */
export function exchange(one: Spot, other: Spot): boolean {
  return tryRename(renameExchange, one, other);
}

function tryRename(rename: typeof renameExchange, one: Spot, other: Spot): boolean {
  try {
    rename({ folderFd: one.folder.fd, name: one.name }, { folderFd: other.folder.fd, name: other.name });
    return true;
  } catch (error) {
    if (error instanceof SysError && ['EINVAL', 'ENOSYS', 'EOPNOTSUPP'].some((code) => isErrno(error, code)))
      return false;
    throw error;
  }
}
