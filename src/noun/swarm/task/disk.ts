/** Task files as bytes: found, read and exchanged relative to open folders. */
import { createHash, randomBytes } from 'node:crypto';
import { fsyncSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { Anchor, within } from '../../../lib/file/anchor.ts';
import { type BoundedFile, ReadRefusal, readBounded } from '../../../lib/file/bounded-read.ts';
import { isErrno } from '../../../lib/file/file.ts';
import { makeFile } from '../../../lib/file/make-file.ts';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { renameExchange, SysError } from '../../../lib/sys/sys.ts';
import { Fault } from '../../../model/fault.ts';
import { maxTaskFileBytes, taskFileNamePattern, taskFolders } from '../model/task.ts';
import { type Account, type TaskPlace, taskPath } from './task.ts';

const maxFilesPerFolder = 1000;

export function findTasks(project: string): TaskPlace[] {
  return taskFolders.flatMap((folder) => {
    const anchor = openFolder(project, folder);
    if (anchor === null) return [];
    const names = within(anchor, () => anchor.list().filter((name) => taskFileNamePattern.test(name)));
    return names
      .sort()
      .slice(0, maxFilesPerFolder)
      .map((name) => ({ project, folder, name }));
  });
}

/** Null: the folder does not exist. */
export function openFolder(project: string, folder: TaskPlace['folder']): Anchor | null {
  const [outer, inner] = folder.split('/') as [string, string];
  try {
    return within(Anchor.reach(project), (root) => within(root.enter(outer), (above) => above.enter(inner)));
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    if (isErrno(error, 'ELOOP') || isErrno(error, 'ENOTDIR'))
      throw new Fault('denied', `${folder} in ${project} is a link, or no folder`, {
        hint: 'Task files are not read through links.',
      });
    if (isErrno(error, 'EACCES'))
      throw new Fault('denied', `${folder} in ${project} may not be entered`, { cause: error });
    throw error;
  }
}

export function readContent(folder: Anchor, place: TaskPlace, account: Account): BoundedFile {
  const content = readEntry(folder, place.name, taskPath(place));
  if (account === null || content.stat.uid === account) return content;
  throw new Fault('denied', `${taskPath(place)} belongs to another account`);
}

function readEntry(folder: Anchor, name: string, shown: string): BoundedFile {
  const found = readOrRefuse(folder, name, shown);
  if (found !== null) return found;
  throw new Fault('not_found', `there is no task file ${shown}`, {
    hint: 'See: carrel task ls',
  });
}

function readOrRefuse(folder: Anchor, name: string, shown: string): BoundedFile | null {
  try {
    return readBounded(folder.at(name), maxTaskFileBytes);
  } catch (error) {
    if (error instanceof ReadRefusal) throw refusals[error.reason](shown);
    if (isErrno(error, 'EACCES')) throw new Fault('denied', `${shown} cannot be read`, { cause: error });
    throw error;
  }
}

const refusals: Readonly<Record<ReadRefusal['reason'], (shown: string) => Fault>> = {
  link: (shown) => new Fault('denied', `${shown} is a link`, { hint: 'Task files are not read through links.' }),
  not_regular: (shown) => new Fault('denied', `${shown} is not an ordinary file`),
  too_large: (shown) => new Fault('invalid', `${shown} is larger than ${maxTaskFileBytes} bytes`),
};

/** Replaces the old content. False: the file had other content by then, and is unchanged. */
export function replaceContent(folder: Anchor, name: string, old: BoundedFile, bytes: Buffer): boolean {
  const staged = stage(folder, old, bytes);
  crashPoint('task:staged');
  try {
    if (!exchange(folder, staged, name)) return replaceByRename(folder, staged, name, old);
  } catch (error) {
    rmSync(folder.at(staged), { force: true });
    if (isErrno(error, 'ENOENT')) return false;
    throw error;
  }
  crashPoint('task:exchanged');
  const kept = holds(folder, staged, old.bytes);
  // Another program saved the file in between: its version goes back, and the staged content is taken out.
  if (!kept) exchange(folder, staged, name);
  crashPoint('task:checked');
  if (kept || holds(folder, staged, bytes)) unlinkSync(folder.at(staged));
  fsyncSync(folder.fd);
  return kept;
}

/** Writes the content under a temporary name until it is whole, then renames it to the one that it is exchanged by. */
function stage(folder: Anchor, old: BoundedFile, bytes: Buffer): string {
  const unique = randomBytes(4).toString('hex');
  const begun = `${beginning}${unique}`;
  const staged = `.carrel-task-${digest(old.bytes)}-${digest(bytes)}-${unique}`;
  try {
    const { uid, gid, mode } = old.stat;
    const content = { bytes, mode: mode & 0o777, owner: { uid, gid } };
    makeFile(folder.at(begun), content, () => crashPoint('task:begun'));
    crashPoint('task:written');
    renameSync(folder.at(begun), folder.at(staged));
    return staged;
  } catch (error) {
    rmSync(folder.at(begun), { force: true });
    throw isErrno(error, 'EPERM') ? otherOwner(error) : error;
  }
}

function otherOwner(error: unknown): Fault {
  return new Fault('denied', 'the task file belongs to another account, and writing it would change its owner', {
    cause: error,
    hint: 'Let the account that runs the daemon own the file.',
  });
}

/** False: the filesystem has no exchange. */
function exchange(folder: Anchor, one: string, other: string): boolean {
  try {
    renameExchange(entryIn(folder, one), entryIn(folder, other));
    return true;
  } catch (error) {
    if (error instanceof SysError && (error.code === 'EINVAL' || error.code === 'ENOSYS')) return false;
    throw error;
  }
}

function entryIn({ fd }: Anchor, name: string) {
  return { folderFd: fd, name: Buffer.from(name) };
}

/**
 * Replaces the file by a rename. A save between the check and the rename is lost: without an exchange this cannot be
 * prevented.
 */
function replaceByRename(folder: Anchor, staged: string, name: string, old: BoundedFile): boolean {
  const same = holds(folder, name, old.bytes);
  if (same) renameSync(folder.at(staged), folder.at(name));
  else unlinkSync(folder.at(staged));
  fsyncSync(folder.fd);
  return same;
}

/** Whether the name is an ordinary file with exactly these bytes. */
function holds(folder: Anchor, name: string, bytes: Buffer): boolean {
  try {
    return readEntry(folder, name, name).bytes.equals(bytes);
  } catch {
    return false;
  }
}

const beginning = '.carrel-task-begun-';
/** The digests of the old and the new content tell a staged file from one that another program left. */
const stagedPattern = /^\.carrel-task-([0-9a-f]{16})-([0-9a-f]{16})-[0-9a-f]{8}$/;

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}

/** Removes staged files that a crash left. The caller holds the lock of the folder. */
export function sweepStaged(folder: Anchor): void {
  for (const name of folder.list()) {
    const [, ...digests] = stagedPattern.exec(name) ?? [];
    if (name.startsWith(beginning) || isOneOf(folder, name, digests)) rmSync(folder.at(name), { force: true });
  }
}

function isOneOf(folder: Anchor, name: string, digests: readonly string[]): boolean {
  try {
    return digests.length > 0 && digests.includes(digest(readEntry(folder, name, name).bytes));
  } catch {
    return false;
  }
}
