/** System calls for mounts, like those in sys.ts. */
import { closeSync, openSync } from 'node:fs';
import { constants as os } from 'node:os';
import { AT_EMPTY_PATH, AT_FDCWD, checked, errno, libc, SysError } from './libc.ts';

const c = {
  mount: libc(
    'int mount(const char *source, const char *target, const char *type, unsigned long flags, const char *data)',
  ),
  umount2: libc('int umount2(const char *target, int flags)'),
  openTree: libc('long syscall(long number, int folder, const char *path, uint32_t flags)'),
  mountSetattr: libc(
    'long syscall(long number, int folder, const char *path, uint32_t flags, const void *attributes, size_t size)',
  ),
  moveMount: libc(
    'long syscall(long number, int fromFolder, const char *from, int toFolder, const char *to, uint32_t flags)',
  ),
  unshare: libc('int unshare(int flags)'),
  setns: libc('int setns(int fd, int kind)'),
  fchdir: libc('int fchdir(int fd)'),
  chroot: libc('int chroot(const char *path)'),
};

/** Numbers of system calls, the same on every architecture since Linux 5.2. */
const numbers = { openTree: 428, moveMount: 429, mountSetattr: 442 } as const;

export const mountFlags = { readonly: 1, nosuid: 2, nodev: 4 } as const;

export function mount(source: string, target: string, type: string, flags: number, data = ''): void {
  checked(`mount ${type} on ${target}`, c.mount(source, target, type, flags, data));
}

/** Detaches a mount and all below it at once; processes that use it keep it. False: nothing is mounted there. */
export function detachMount(target: string): boolean {
  const MNT_DETACH = 2;
  const UMOUNT_NOFOLLOW = 8;
  if (c.umount2(target, MNT_DETACH | UMOUNT_NOFOLLOW) === 0) return true;
  const found = errno();
  if (found === os.errno.EINVAL || found === os.errno.ENOENT) return false;
  throw new SysError(`umount ${target}`, found);
}

/** Detaches a mount that no process uses. Busy: an open file, a working folder or a mapping is on it. */
export function unmount(target: string): 'done' | 'busy' | 'absent' {
  const UMOUNT_NOFOLLOW = 8;
  if (c.umount2(target, UMOUNT_NOFOLLOW) === 0) return 'done';
  const found = errno();
  if (found === os.errno.EBUSY) return 'busy';
  if (found === os.errno.EINVAL || found === os.errno.ENOENT) return 'absent';
  throw new SysError(`umount ${target}`, found);
}

export interface BindOptions {
  readonly readonly: boolean;
  /**
   * A user namespace that maps owners: an id on disk appears as the id that the namespace maps it to, and files that
   * are written under that id get the id on disk.
   */
  readonly ownersFd: number | null;
}

const OPEN_TREE_CLONE = 1;
const OPEN_TREE_CLOEXEC = 0o2000000;
const AT_RECURSIVE = 0x8000;

/** Binds an open file or folder on `target`, without devices and setuid programs. Restrictions of the source stay. */
export function bindMount(sourceFd: number, target: string, options: BindOptions): void {
  const tree = cloneMount(sourceFd);
  try {
    const attributes = mountAttributes(options);
    const [size, flags] = [attributes.length, AT_EMPTY_PATH | AT_RECURSIVE];
    checked('mount_setattr', c.mountSetattr(numbers.mountSetattr, tree, '', flags, attributes, size));
    attach(tree, target);
  } finally {
    closeSync(tree);
  }
}

/**
 * Clones a mount without the mounts below it, unless the kernel forbids to leave them out because that would uncover
 * what they hide.
 */
function cloneMount(sourceFd: number): number {
  const flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH;
  const alone = c.openTree(numbers.openTree, sourceFd, '', flags);
  if (alone >= 0 || errno() !== os.errno.EINVAL) return checked('open_tree', alone);
  return checked('open_tree', c.openTree(numbers.openTree, sourceFd, '', flags | AT_RECURSIVE));
}

function attach(tree: number, target: string): void {
  const MOVE_MOUNT_F_EMPTY_PATH = 4;
  checked('move_mount', c.moveMount(numbers.moveMount, tree, '', AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH));
}

/** A detached copy of the mounts at `source` and below. The caller closes it. */
export function copyTree(source: string): number {
  const flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE;
  return checked(`open_tree ${source}`, c.openTree(numbers.openTree, AT_FDCWD, source, flags));
}

/** A detached copy of one mount, without those below it. It is writable if its filesystem is. The caller closes it. */
export function writableCopy(source: string): number {
  const copy = checked(
    `open_tree ${source}`,
    c.openTree(numbers.openTree, AT_FDCWD, source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC),
  );
  const RDONLY = 1n;
  const attributes = Buffer.alloc(32);
  attributes.writeBigUInt64LE(RDONLY, 8);
  const [size, flags] = [attributes.length, AT_EMPTY_PATH];
  checked('mount_setattr', c.mountSetattr(numbers.mountSetattr, copy, '', flags, attributes, size));
  return copy;
}

/** Attaches such a copy to an open folder, even if the path of the folder has changed. */
export function attachTree(tree: number, folderFd: number): void {
  const [MOVE_MOUNT_F_EMPTY_PATH, MOVE_MOUNT_T_EMPTY_PATH] = [4, 0x40];
  const flags = MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH;
  checked('move_mount', c.moveMount(numbers.moveMount, tree, '', folderFd, '', flags));
}

/** struct mount_attr: what to set, what to clear, propagation, the user namespace. */
function mountAttributes({ readonly, ownersFd }: BindOptions): Buffer {
  const [RDONLY, NOSUID, NODEV, IDMAP] = [1n, 2n, 4n, 0x00100000n];
  const attributes = Buffer.alloc(32);
  attributes.writeBigUInt64LE(NOSUID | NODEV | (readonly ? RDONLY : 0n) | (ownersFd === null ? 0n : IDMAP), 0);
  attributes.writeBigUInt64LE(BigInt(ownersFd ?? 0), 24);
  return attributes;
}

/** Copies the mounts at `source` and below to `target` in the mount namespace of another process. */
export function bindTreeInto(pid: number, source: string, target: string): void {
  const tree = copyTree(source);
  try {
    inMountNamespaceOf(pid, () => attach(tree, target));
  } finally {
    closeSync(tree);
  }
}

/** Like `detachMount`, in the mount namespace of another process. */
export function detachMountFrom(pid: number, target: string): boolean {
  return inMountNamespaceOf(pid, () => detachMount(target));
}

const CLONE_FS = 0x200;
const CLONE_NEWNS = 0x20000;

/**
 * Runs `work` in the mount namespace of another process. This thread is always back when the function returns; nothing
 * else runs on it meanwhile.
 */
export function inMountNamespaceOf<T>(pid: number, work: () => T): T {
  const there = openSync(`/proc/${pid}/ns/mnt`, 'r');
  const [here, root, folder] = ['/proc/thread-self/ns/mnt', '/', '.'].map((path) => openSync(path, 'r')) as Three;
  try {
    // Only a thread that shares its root and working folder with no other thread may change namespaces.
    checked('unshare', c.unshare(CLONE_FS));
    checked('setns', c.setns(there, CLONE_NEWNS));
    try {
      return work();
    } finally {
      comeBack(here, root, folder);
    }
  } finally {
    for (const fd of [there, here, root, folder]) closeSync(fd);
  }
}

type Three = [number, number, number];

/** Ends the process if the thread cannot return: in the wrong namespace every path would mean something else. */
function comeBack(here: number, root: number, folder: number): void {
  const steps = [() => c.setns(here, CLONE_NEWNS), () => c.fchdir(root), () => c.chroot('.'), () => c.fchdir(folder)];
  if (steps.some((step) => step() !== 0)) process.abort();
}
