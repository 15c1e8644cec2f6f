/** Binds sources of mounts on the host to paths from which the runtime or an engine can mount them. */
import { chownSync, closeSync, constants, fstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { O_PATH } from '../../../../lib/file/anchor.ts';
import { currentBootId } from '../../../../lib/process/process.ts';
import { openAt, openWithoutLinks, SysError } from '../../../../lib/sys/sys.ts';
import { bindMount, mount, mountFlags } from '../../../../lib/sys/sys-mount.ts';
import { Fault } from '../../../../model/fault.ts';
import { type FolderIdentity, isSameFolder, type Mount } from '../../../../model/mount.ts';
import type { UserIds } from './owner-namespace.ts';

type BindMount = Extract<Mount, { kind: 'bind' }>;
type OverlayMount = Extract<Mount, { kind: 'overlay' }>;

export interface Owners {
  /** The host ids of agent. */
  readonly agent: UserIds;
  /**
   * For mounts that map the owner of their source to agent: a user namespace with that mapping, or null when not
   * needed.
   */
  readonly ownerNamespace: (owner: UserIds, agent: UserIds, keepsOthers: boolean) => Promise<number | null>;
}

/** Opens the source once and mounts it by descriptor, so that the path cannot be replaced in between. */
export async function bindSource(one: BindMount, target: string, { agent, ownerNamespace }: Owners): Promise<void> {
  const fd = openSource(one.source);
  try {
    const stat = fstatSync(fd);
    if (one.shared) refuseReplaced(one.source, fd, one.shared);
    if (stat.isDirectory()) mkdirSync(target);
    else writeFileSync(target, '');
    if (one.own) giveTo(agent, fd);
    if (one.own && one.readonly && stat.isDirectory()) eachPlainFile(fd, (file) => giveTo(agent, file));
    const ownersFd = one.mapOwner ? await ownerNamespace(stat, agent, one.shared !== undefined) : null;
    bindShifted(fd, target, one, ownersFd);
  } finally {
    closeSync(fd);
  }
}

/** Throws if the folder of a share is not the folder that was checked when it was shared. */
export function refuseReplaced(source: string, fd: number, shared: FolderIdentity): void {
  const { dev, ino } = fstatSync(fd, { bigint: true });
  if (isSameFolder(shared, { device: String(dev), inode: String(ino), bootId: currentBootId() })) return;
  throw new Fault('denied', `${source} is not the folder that was shared`, {
    hint: 'Put that folder back, or revoke the share and add it again: carrel share ls',
  });
}

/**
 * If the filesystem cannot map owners, a read-only source is mounted without a mapping, unless only the daemon may read
 * it.
 */
function bindShifted(fd: number, target: string, one: BindMount, ownersFd: number | null): void {
  const { source, readonly, daemonOnly = false } = one;
  try {
    bindMount(fd, target, { readonly, ownersFd });
  } catch (error) {
    if (ownersFd === null || !(error instanceof SysError) || error.code !== 'EINVAL') throw error;
    if (!readonly || daemonOnly) throw cannotShift(source, error);
    bindMount(fd, target, { readonly, ownersFd: null });
  }
}

function cannotShift(source: string, cause: unknown): Fault {
  return new Fault('unsupported', `the filesystem of ${source} cannot show its owner as agent`, {
    hint: 'Put it on another one (ext4, xfs, btrfs, tmpfs), or run the daemon as its owner.',
    cause,
  });
}

function giveTo(agent: UserIds, fd: number): void {
  const { uid, gid } = fstatSync(fd);
  if (uid !== agent.uid || gid !== agent.gid) chownSync(`/proc/self/fd/${fd}`, agent.uid, agent.gid);
}

/**
 * Calls `act` for the plain files directly in a folder. Each file is opened first and then checked, so that `act` gets
 * the checked file. A file with a second link may belong to another folder, and is left out.
 */
export function eachPlainFile(folderFd: number, act: (fd: number) => void): void {
  for (const name of readdirSync(`/proc/self/fd/${folderFd}`, { encoding: 'buffer' })) {
    const fd = openAt({ folderFd, name }, O_PATH | constants.O_NOFOLLOW);
    try {
      const stat = fstatSync(fd);
      if (stat.isFile() && stat.nlink === 1) act(fd);
    } finally {
      closeSync(fd);
    }
  }
}

/**
 * The options of the mount contain paths of the stage only, never paths of users, which may hold commas and colons. The
 * options keep the changes independent of the base except for names: the base may be edited while it is mounted, and
 * the daemon reads changes without a mount.
 */
export async function overlaySource(
  one: OverlayMount,
  target: string,
  input: Owners & { readonly rootless: boolean },
): Promise<void> {
  const [lower, folder] = [`${target}-lower`, `${target}-changes`];
  const { lower: source, mapOwner = false } = one;
  await bindSource({ kind: 'bind', source, target: '', readonly: true, mapOwner }, lower, input);
  await bindSource({ kind: 'bind', source: one.folder, target: '', readonly: false }, folder, input);
  chownSync(join(folder, 'upper'), input.agent.uid, input.agent.gid);
  mkdirSync(target);
  const layers = `lowerdir=${lower},upperdir=${folder}/upper,workdir=${folder}/work`;
  if (input.rootless) mountOverlay(one, target, `${layers},userxattr`);
  else if (!one.keepsLinks || !isMountedWithIndex(target, `${layers},index=on,${noMore}`))
    mountOverlay(one, target, `${layers},index=off,${noMore}`);
}

const noMore = 'metacopy=off,redirect_dir=off';

/** False: the layers have changed since they were last mounted, or are still mounted. */
function isMountedWithIndex(target: string, options: string): boolean {
  try {
    mount('carrel-overlay', target, 'overlay', mountFlags.nosuid | mountFlags.nodev, options);
    return true;
  } catch (error) {
    if (error instanceof SysError && ['ESTALE', 'EBUSY', 'EINVAL', 'EOPNOTSUPP'].includes(error.code)) return false;
    throw error;
  }
}

function mountOverlay(one: OverlayMount, target: string, options: string): void {
  try {
    mount('carrel-overlay', target, 'overlay', mountFlags.nosuid | mountFlags.nodev, options);
  } catch (error) {
    throw new Fault('unsupported', `no working copy can be laid over ${one.lower}: ${(error as Error).message}`, {
      cause: error,
      hint: 'Its filesystem, or that of CARREL_HOME, may not allow overlays: try --mode clone, or another CARREL_HOME.',
    });
  }
}

export function openSource(path: string): number {
  try {
    return openWithoutLinks(path);
  } catch (error) {
    const isLink = error instanceof SysError && error.code === 'ELOOP';
    const why = isLink ? 'it leads through a link that was not there before' : (error as Error).message;
    throw new Fault(isLink ? 'denied' : 'invalid', `cannot mount ${path}: ${why}`, { cause: error });
  }
}
