/**
 * Trees of files that others may be changing: working copies, bases, snapshots, projects.
 *
 * `walk.ts` visits a working copy beside its base, `copy-tree.ts` copies a tree, `reader.ts` and `content.ts` read files,
 * `folders.ts` and `tree-cursor.ts` keep folders open, `open-entry.ts` changes modes and owners.
 *
 * Promises:
 * - A folder is opened component by component, and no link is followed: nothing outside of the tree is read or written,
 *   whatever is put at a path meanwhile.
 * - An entry that vanished, or was replaced by one of another type, is null here and no error. Each caller decides what
 *   that means.
 * - Only regular files are opened for their content, without waiting: no FIFO blocks, no device is read.
 * - Paths are bytes: a name that is not UTF-8 is kept as it is.
 */
import { constants, readlinkSync } from 'node:fs';
import { Anchor } from '../../../lib/file/anchor.ts';
import { isErrno } from '../../../lib/file/file.ts';
import { type Stat, statIn } from '../../../lib/sys/stat.ts';
import { openAt } from '../../../lib/sys/sys.ts';
import { type BytePath, toBytes } from '../../../model/byte-path.ts';
import type { Entry, EntryType } from '../model/change.ts';

const folderOnly = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Null: it is not a folder, or not any more. Like `Anchor.enter`, in half the time. */
export function enter(from: Anchor, name: BytePath): Anchor | null {
  return unlessGone(() => Anchor.of(openAt({ folderFd: from.fd, name }, folderOnly)));
}

const goneErrors = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'ESTALE'];

/** Null: the entry vanished, or was replaced by something else, before it was opened. */
export function unlessGone<T>(look: () => T): T | null {
  try {
    return look();
  } catch (error) {
    if (goneErrors.some((code) => isErrno(error, code))) return null;
    throw error;
  }
}

export function look(folder: Anchor, name: BytePath): Stat | null {
  return statIn({ folderFd: folder.fd, name });
}

/** Null: it is of another type by now. */
export function entryAt(folder: Anchor, name: BytePath, stat: Stat): Entry | null {
  const type = typeOf(stat);
  if (type !== 'link') return entryOf(type, stat);
  const target = readLink(folder, name);
  return target === null ? null : { type, mode: 0, sizeBytes: 0, target };
}

export function typeOf(stat: Stat): EntryType {
  if (stat.isFile()) return 'file';
  if (stat.isDirectory()) return 'folder';
  if (stat.isSymbolicLink()) return 'link';
  if (stat.isFIFO()) return 'fifo';
  return stat.isSocket() ? 'socket' : 'device';
}

function entryOf(type: EntryType, stat: Stat): Entry {
  const sizeBytes = type === 'file' ? Number(stat.size) : 0;
  return { type, mode: Number(stat.mode & 0o777n), sizeBytes, target: null };
}

export function readLink(folder: Anchor, name: BytePath): BytePath | null {
  try {
    return readlinkSync(folder.at(toBytes(name)), 'latin1');
  } catch (error) {
    // EINVAL: it is not a link any more.
    if (isErrno(error, 'ENOENT') || isErrno(error, 'EINVAL')) return null;
    throw error;
  }
}
