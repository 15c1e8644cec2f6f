/**
 * Adds a mount to a running sandbox of any engine whose processes are visible here. The root of a sandbox is mounted
 * read-only, so the daemon makes the mount point through a writable copy of that mount. Although no agent can write to
 * the root, the daemon follows no link on the way and enters no other mount.
 */
import { chownSync, closeSync, constants, fstatSync } from 'node:fs';
import { join } from 'node:path';
import { O_PATH } from '../../../../lib/file/anchor.ts';
import { readIfThere } from '../../../../lib/file/file.ts';
import { makeFolderAt, openAt, openInMount, SysError } from '../../../../lib/sys/sys.ts';
import { attachTree, copyTree, inMountNamespaceOf, writableCopy } from '../../../../lib/sys/sys-mount.ts';
import { Fault } from '../../../../model/fault.ts';
import type { Mount } from '../../../../model/mount.ts';
import { readIdSpace } from '../ids.ts';
import { shiftBetween, type UserIds } from './owner-namespace.ts';
import { bindSource } from './source.ts';
import { openStage, setStage } from './stage.ts';

type BindMount = Extract<Mount, { kind: 'bind' }>;

/** `pid`: the first process of the sandbox, which runs as agent. */
export async function mountInto(pid: number, mount: BindMount): Promise<void> {
  const { rootless } = readIdSpace();
  openStage();
  const { folder, release } = setStage(`live-${pid}`);
  try {
    const source = join(folder, 'source');
    const ownerNamespace = async (...shift: Parameters<typeof shiftBetween>) =>
      rootless ? null : shiftBetween(...shift);
    await bindSource(mount, source, { agent: idsOf(pid), ownerNamespace });
    attachIn(pid, source, mount.target);
  } catch (error) {
    throw error instanceof SysError ? cannotMount(mount.target, error) : error;
  } finally {
    release();
  }
}

/** The effective ids of a process. A line of its status has the real, effective, saved and filesystem id. */
function idsOf(pid: number): UserIds {
  const status = readIfThere(`/proc/${pid}/status`) ?? '';
  const id = (kind: string) => Number(new RegExp(`^${kind}:\\t\\d+\\t(\\d+)`, 'm').exec(status)?.[1]);
  return { uid: id('Uid'), gid: id('Gid') };
}

function attachIn(pid: number, source: string, target: string): void {
  const tree = copyTree(source);
  try {
    makePlace(pid, target);
    inMountNamespaceOf(pid, () => withFd(openInMount(target), (fd) => attachTree(tree, fd)));
  } finally {
    closeSync(tree);
  }
}

/** Makes the folders of the mount point. A folder that exists already is used as it is. */
function makePlace(pid: number, target: string): void {
  let fd = inMountNamespaceOf(pid, () => writableCopy('/'));
  const { uid, gid } = fstatSync(fd);
  try {
    for (const name of target.split('/').slice(1)) {
      const next = enter(fd, Buffer.from(name), { uid, gid });
      closeSync(fd);
      fd = next;
    }
  } finally {
    closeSync(fd);
  }
}

function enter(folderFd: number, name: Buffer, owner: UserIds): number {
  const flags = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  try {
    return openAt({ folderFd, name }, flags);
  } catch (error) {
    if (!(error instanceof SysError) || error.code !== 'ENOENT') throw error;
    makeFolderAt({ folderFd, name }, 0o755);
    const made = openAt({ folderFd, name }, flags);
    chownSync(`/proc/self/fd/${made}`, owner.uid, owner.gid);
    return made;
  }
}

function withFd(fd: number, use: (fd: number) => void): void {
  try {
    use(fd);
  } finally {
    closeSync(fd);
  }
}

const reasons: { readonly [code: string]: string } = {
  ENOTDIR: 'a link or a file is at this path, or at a folder above it',
  ELOOP: 'a link is at this path, or at a folder above it',
  EXDEV: 'another mount is at a folder above it',
  EROFS: 'the root filesystem of the sandbox has no such folder and is read-only',
  EPERM: 'the daemon may not change the mounts of the sandbox',
};

function cannotMount(target: string, cause: SysError): Fault {
  return new Fault('unsupported', `nothing can be mounted at ${target} now: ${reasons[cause.code] ?? cause.message}`, {
    cause,
  });
}
