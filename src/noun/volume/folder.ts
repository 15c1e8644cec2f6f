/**
 * The folder of a volume, and how its whole content is replaced at once. Beside the volumes, under names that no volume
 * can have:
 *
 *   .new-NAME…   content that is being made, or that was replaced and is being removed
 *   .old-NAME    content that was replaced where two names cannot be exchanged at once
 *   .gone-NAME   a volume that is being removed
 */
import { randomBytes } from 'node:crypto';
import { existsSync, lchownSync, lstatSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Anchor, within } from '../../lib/file/anchor.ts';
import { diskUsage } from '../../lib/file/disk.ts';
import { isErrno, removeTree, syncFolder } from '../../lib/file/file.ts';
import { crashPoint } from '../../lib/flow/crash-point.ts';
import { run } from '../../lib/process/run.ts';
import { renameExchange, SysError } from '../../lib/sys/sys.ts';
import { Fault } from '../../model/fault.ts';

/** The time limit of programs that go through a volume, in which an agent may have created millions of files. */
const longMs = 3_600_000;

export function isPlainFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Creates the folder with `ownerId` as owner, unless it exists. Throws if anything else has that path. */
export function ensureFolder(path: string, ownerId: number | null): void {
  if (!isPlainFolder(path)) makeFolder(path);
  if (ownerId === null || lstatSync(path).uid === ownerId) return;
  if (isEmptyFolder(path)) lchownSync(path, ownerId, ownerId);
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (isErrno(error, 'EEXIST') && isPlainFolder(path)) return;
    if (!isErrno(error, 'EEXIST')) throw error;
    throw new Fault('denied', `${path} is not a folder`, { hint: 'Look at what it is, and move it away.' });
  }
}

/**
 * Gives a whole tree to `ownerId`, or to the daemon: ids from an archive or a folder of the host mean other accounts on
 * this machine. Links are not followed, and the kernel drops set-id bits and file capabilities with the change.
 */
export async function ownTree(path: string, ownerId: number | null): Promise<void> {
  const [uid, gid] = ownerId === null ? [process.geteuid!(), process.getegid!()] : [ownerId, ownerId];
  const { exitCode, stderr } = await run(['chown', '-R', '-P', '-h', `${uid}:${gid}`, '--', path], longMs);
  if (exitCode !== 0)
    throw new Fault('internal', `cannot change the owner of ${path}: ${stderr.trim().split('\n')[0]}`);
}

export function isEmptyFolder(path: string): boolean {
  return within(Anchor.reach(path), (folder) => folder.names().length === 0);
}

/** The space that a folder takes on disk; null: there is no folder. */
export async function sizeOf(path: string): Promise<number | null> {
  return isPlainFolder(path) ? diskUsage(path) : null;
}

/**
 * Gives `work` a new folder beside the volume, in which it makes content before it swaps the two. The program that
 * makes the content may outlive the daemon for a moment, so every such folder has its own name.
 */
export async function withStaged<T>(volumes: string, name: string, work: (staged: string) => Promise<T>): Promise<T> {
  const staged = join(volumes, `.new-${name}-${randomBytes(4).toString('hex')}`);
  mkdirSync(staged, { mode: 0o700 });
  try {
    return await work(staged);
  } finally {
    // The next `recover` removes the rest.
    await removeTree(staged).catch(() => {});
  }
}

/** Devices hold no data, and a backup cannot restore them. */
export async function removeDevices(path: string): Promise<void> {
  const devices = ['(', '-type', 'b', '-o', '-type', 'c', ')'] as const;
  const { exitCode, stderr } = await run(['find', path, '-xdev', ...devices, '-delete'], longMs);
  if (exitCode !== 0) throw new Fault('internal', `cannot read ${path}: ${stderr.trim().split('\n')[0]}`);
}

/** Exchanges the staged folder and the volume. Durable on return. */
export function swap(volumes: string, staged: string, name: string): void {
  within(Anchor.open(volumes), ({ fd: folderFd }) => {
    try {
      const [one, other] = [Buffer.from(basename(staged)), Buffer.from(name)];
      renameExchange({ folderFd, name: one }, { folderFd, name: other });
    } catch (error) {
      if (!(error instanceof SysError && error.code === 'EINVAL')) throw error;
      swapByTurns(volumes, staged, name);
    }
  });
  syncFolder(volumes);
}

/** For filesystems that cannot exchange two names. */
function swapByTurns(volumes: string, staged: string, name: string): void {
  const [live, old] = [join(volumes, name), join(volumes, `.old-${name}`)];
  renameSync(live, old);
  crashPoint('volume:old-aside');
  renameSync(staged, live);
  syncFolder(volumes);
  crashPoint('volume:new-in-place');
  renameSync(old, staged);
}

/** Makes the removal of the volume final, even after a crash; `removeGone` removes its content. */
export function setAside(volumes: string, name: string): void {
  const live = join(volumes, name);
  if (!existsSync(live)) return;
  renameSync(live, join(volumes, `.gone-${name}`));
  syncFolder(volumes);
}

export function removeGone(volumes: string, name: string): Promise<void> {
  return removeTree(join(volumes, `.gone-${name}`));
}

/** Names of volumes whose removal has begun. */
export function goneNames(volumes: string): string[] {
  return left(volumes, '.gone-').map((entry) => entry.slice('.gone-'.length));
}

/** Undoes a swap that was half done where names cannot be exchanged. */
export function takeBack(volumes: string): void {
  for (const entry of left(volumes, '.old-')) {
    const live = join(volumes, entry.slice('.old-'.length));
    const spare = join(volumes, `.new-${entry}`);
    renameSync(join(volumes, entry), existsSync(live) ? spare : live);
  }
  syncFolder(volumes);
}

/**
 * Removes staged folders. Each is renamed first, so that a program that outlived the daemon does not find it any more.
 * A folder that cannot be removed is removed the next time.
 */
export async function removeStaged(volumes: string): Promise<void> {
  for (const entry of left(volumes, '.new-')) {
    const renamed = join(volumes, `.new-left-${randomBytes(4).toString('hex')}`);
    renameSync(join(volumes, entry), renamed);
    await removeTree(renamed).catch(() => {});
  }
}

function left(volumes: string, prefix: string): string[] {
  return readdirSync(volumes).filter((entry) => entry.startsWith(prefix));
}
