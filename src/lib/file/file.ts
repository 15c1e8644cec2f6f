/** Files written as a whole or not at all, and trees removed with any content. */
import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Fault } from '../../model/fault.ts';
import { run } from '../process/run.ts';
import { removeSmallTree } from './remove-small-tree.ts';

/**
 * Temporary name, fsync, rename, fsync of the folder: after a crash the file has the old or the new content, never a
 * part.
 */
export function writeWhole(path: string, content: string | Uint8Array, mode = 0o600): void {
  write(path, content, mode, renameSync);
}

/** Like `writeWhole`, for a new file: it fails with EEXIST if the file exists. */
export function writeNew(path: string, content: string | Uint8Array, mode = 0o600): void {
  write(path, content, mode, (temporary) => {
    linkSync(temporary, path);
    rmSync(temporary);
  });
}

function write(
  path: string,
  content: string | Uint8Array,
  mode: number,
  place: (temporary: string, path: string) => void,
): void {
  const temporary = `${path}.${process.pid}.tmp`;
  // A crashed process may have had the same pid; in a container the next one usually has.
  rmSync(temporary, { force: true });
  try {
    const fd = openSync(temporary, 'wx', mode);
    try {
      writeFileSync(fd, content);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    place(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(dirname(path));
}

export function syncFolder(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Fails with EEXIST if there is a file already. Blocks are shared where the filesystem can do it. */
export function copyDurably(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  syncFolder(to);
}

/** Flushes a folder and everything below it to disk. */
export function syncTree(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) syncFolder(join(folder, name));
  syncFolder(folder);
}

/** Null: the file is absent, or vanished during the read, as files of the kernel do. */
export function readIfThere(path: string): string | null {
  try {
    // Cheaper than an exception, and most of these files do not exist.
    if (!statSync(path, { throwIfNoEntry: false })) return null;
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ESRCH', 'ENODEV'].some((code) => isErrno(error, code))) return null;
    throw error;
  }
}

const endBytes = 64 * 1024;

/** The end of a file; empty if there is none. */
export function lastText(path: string): string {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return '';
    throw error;
  }
  try {
    const { size } = fstatSync(fd);
    const end = Buffer.alloc(Math.min(size, endBytes));
    return end.toString('utf8', 0, readSync(fd, end, 0, end.length, size - end.length));
  } finally {
    closeSync(fd);
  }
}

export function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}

/** A sandbox may have made millions of files. */
const removeMs = 3_600_000;

/**
 * Removes a tree that a sandbox may have filled. `rm` walks by descriptors, so neither symlinks nor paths longer than the
 * kernel takes at once can mislead or stop it.
 */
export async function removeTree(path: string): Promise<void> {
  if (await removeSmallTree(path)) return;
  const { exitCode, stderr } = await run(['rm', '-rf', '--one-file-system', '--', path], removeMs);
  if (exitCode !== 0) throw new Fault('internal', `cannot remove ${path}: ${stderr.trim()}`);
}
