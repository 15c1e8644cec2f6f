/**
 * The system calls that Node does not offer, through FFI; those about mounts are in sys-mount.ts, those about sockets
 * in sys-socket.ts. Each either returns or throws a SysError with its errno name. Linux only; struct layouts and
 * constants here are the same on x86-64 and arm64.
 */

import { constants as os } from 'node:os';
import type { BytePath } from '../../model/byte-path.ts';
import { O_PATH } from '../file/anchor.ts';
import { terminated, terminatedSecond } from '../process/terminated.ts';
import { AT_EMPTY_PATH, AT_FDCWD, checked, errno, libc, SysError } from './libc.ts';

export { SysError };

const c = {
  dup2: libc('int dup2(int from, int to)'),
  close: libc('int close(int fd)'),
  pipe2: libc('int pipe2(_Out_ int *pair, int flags)'),
  poll: libc('int poll(void *fds, unsigned long count, int timeoutMs)'),
  flock: libc('int flock(int fd, int operation)'),
  syncfs: libc('int syncfs(int fd)'),
  fallocate: libc('int fallocate(int fd, int mode, int64_t offset, int64_t length)'),
  renameat2: libc(
    'long syscall(long number, int fromFolder, const void *from, int toFolder, const void *to, uint32_t flags)',
  ),
  lseek: libc('int64_t lseek(int fd, int64_t offset, int whence)'),
  utimensat: libc('int utimensat(int folder, const void *name, const void *times, int flags)'),
  statx: libc('int statx(int folder, const void *name, int flags, uint32_t mask, void *result)'),
  openat: libc('int openat(int folder, const void *name, int flags)'),
  create: libc('int openat(int folder, const void *name, int flags, uint32_t mode)'),
  linkat: libc('int linkat(int fromFolder, const void *from, int toFolder, const void *to, int flags)'),
  getdents: libc('long syscall(long number, int fd, void *entries, size_t size)'),
  mkdirat: libc('int mkdirat(int folder, const void *name, uint32_t mode)'),
  fgetxattr: libc('long fgetxattr(int fd, const char *name, _Out_ void *value, size_t size)'),
  lgetxattr: libc('long lgetxattr(const void *path, const char *name, _Out_ void *value, size_t size)'),
  lsetxattr: libc('int lsetxattr(const void *path, const char *name, const void *value, size_t size, int flags)'),
  nameToHandle: libc(
    'int name_to_handle_at(int folder, const void *path, _Inout_ void *handle, _Out_ int *mount, int flags)',
  ),
  openByHandle: libc('int open_by_handle_at(int mount, const void *handle, int flags)'),
  lremovexattr: libc('int lremovexattr(const void *path, const char *name)'),
  closeRange: libc('long syscall(long number, uint32_t first, uint32_t last, uint32_t flags)'),
  openat2: libc('long syscall(long number, int folder, const char *path, const void *how, size_t size)'),
};

/** Child processes inherit no descriptor except those that are passed to them. */
export function setCloseOnExec(): void {
  const CLOSE_RANGE_CLOEXEC = 4;
  checked('close_range', c.closeRange(numbers.closeRange, 3, 0xffff_ffff, CLOSE_RANGE_CLOEXEC));
}

/** Makes the second descriptor a duplicate of the first; the file that it referred to before is closed. */
export function replaceDescriptor(by: number, replaced: number): void {
  checked('dup2', c.dup2(by, replaced));
}

export type Pipe = [read: number, write: number];

/** Both ends of a pipe. Node gives children sockets instead, and those cannot be opened again as /dev/stdout. */
export function pipe(): Pipe {
  const O_CLOEXEC = 0o2000000;
  const pair = [0, 0];
  checked('pipe2', c.pipe2(pair, O_CLOEXEC));
  return pair as Pipe;
}

/** Makes all of the pipes, or none if descriptors run out. */
export function pipes(count: number): Pipe[] {
  const made: Pipe[] = [];
  try {
    while (made.length < count) made.push(pipe());
    return made;
  } catch (error) {
    for (const fd of made.flat()) c.close(fd);
    throw error;
  }
}

/**
 * Waits until the descriptor has something to read, or is at its end. False: it took too long. A signal does not end
 * the wait.
 */
export function waitReadable(fd: number, timeoutMs: number): boolean {
  const POLLIN = 1;
  const request = Buffer.alloc(8);
  request.writeInt32LE(fd, 0);
  request.writeInt16LE(POLLIN, 4);
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const ready = c.poll(request, 1, Math.max(0, Math.ceil(deadline - performance.now())));
    if (ready >= 0) return ready > 0;
    const found = errno();
    if (found !== os.errno.EINTR) throw new SysError('poll', found);
  }
}

/** True: the lock is held until the descriptor is closed or the process ends. */
export function tryLock(fd: number): boolean {
  const LOCK_EX = 2;
  const LOCK_NB = 4;
  if (c.flock(fd, LOCK_EX | LOCK_NB) === 0) return true;
  const found = errno();
  if (found === os.errno.EWOULDBLOCK || found === os.errno.EINTR) return false;
  throw new SysError('flock', found);
}

/** Returns when everything written so far to the filesystem of this file is on disk. */
export function syncFilesystem(fd: number): void {
  checked('syncfs', c.syncfs(fd));
}

/**
 * Begins a `syncFilesystem` in a thread of libuv and does not report errors. A sync also waits for what other programs
 * have written to the filesystem: one that begins early leaves little to do for the one that counts.
 */
export function beginSync(fd: number, ended: () => void): void {
  c.syncfs.async(fd, ended);
}

/** Allocates disk space for the first bytes of a file; its size and content stay. */
export function allocate(fd: number, bytes: number): void {
  const FALLOC_FL_KEEP_SIZE = 1;
  checked('fallocate', c.fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, bytes));
}

/** A name in an open folder. */
export interface FolderEntry {
  readonly folderFd: number;
  readonly name: Uint8Array;
}

/** Like FolderEntry; a string is quicker than the bytes it stands for. */
export interface NamedEntry {
  readonly folderFd: number;
  readonly name: Uint8Array | BytePath;
}

/** Exchanges two existing entries atomically. EINVAL: the filesystem cannot. */
export function renameExchange(one: NamedEntry, other: NamedEntry): void {
  const RENAME_EXCHANGE = 2;
  renameAt(one, other, RENAME_EXCHANGE);
}

/** EEXIST: the new name is taken. EINVAL: the filesystem cannot. */
export function renameNoReplace(from: NamedEntry, to: NamedEntry): void {
  const RENAME_NOREPLACE = 1;
  renameAt(from, to, RENAME_NOREPLACE);
}

function renameAt(from: NamedEntry, to: NamedEntry, flags: number): void {
  // renameat2 is older than the calls in `numbers`, so each architecture has its own number.
  const number = process.arch === 'x64' ? 316 : 276;
  const [fromName, toName] = [terminated(from.name), terminatedSecond(to.name)];
  checked('renameat2', c.renameat2(number, from.folderFd, fromName, to.folderFd, toName, flags));
}

/** Numbers of calls that libc has no names for yet, the same on every architecture since Linux 5.2. */
const numbers = { closeRange: 436, openat2: 437 } as const;

/** Opens a path for mounting from it, and refuses (ELOOP) to pass through any symbolic link. */
export function openWithoutLinks(path: string): number {
  return openResolved(path, resolve.noMagicLinks | resolve.noLinks);
}

/** Like `openWithoutLinks`; also refuses (EXDEV) to enter any other mount than the one of the root folder. */
export function openInMount(path: string): number {
  return openResolved(path, resolve.noMagicLinks | resolve.noLinks | resolve.noOtherMount);
}

const resolve = { noOtherMount: 1n, noMagicLinks: 2n, noLinks: 4n } as const;

function openResolved(path: string, resolution: bigint): number {
  const O_CLOEXEC = 0o2000000n;
  const how = Buffer.alloc(24);
  how.writeBigUInt64LE(BigInt(O_PATH) | O_CLOEXEC, 0);
  how.writeBigUInt64LE(resolution, 16);
  return checked(`open ${path}`, c.openat2(numbers.openat2, AT_FDCWD, path, how, how.length));
}

const maxMarkBytes = 256;
const markBuffer = Buffer.alloc(maxMarkBytes);

/**
 * Reads an extended attribute of an open file, or of the entry at a path, never of the target of a link. Null: there is
 * no such attribute, or the entry is gone.
 */
export function readMark(of: number | Uint8Array, name: string): Buffer | null {
  const bytes = Number(
    typeof of === 'number'
      ? c.fgetxattr(of, name, markBuffer, maxMarkBytes)
      : c.lgetxattr(terminated(of), name, markBuffer, maxMarkBytes),
  );
  if (bytes >= 0) return Buffer.from(markBuffer.subarray(0, bytes));
  const found = errno();
  const none = [os.errno.ENODATA, os.errno.EOPNOTSUPP, os.errno.ENOENT, os.errno.ENOTDIR, os.errno.ELOOP];
  if (none.includes(found)) return null;
  throw new SysError(`getxattr ${name}`, found);
}

export function writeMark(path: Uint8Array, name: string, value: string): void {
  const bytes = Buffer.from(value);
  checked(`setxattr ${name}`, c.lsetxattr(terminated(path), name, bytes, bytes.length, 0));
}

const maxHandleBytes = 128;

/** The file handle of an inode, which includes its generation; null: the filesystem has no handles. */
export function fileHandle(path: Uint8Array): { readonly type: number; readonly bytes: Buffer } | null {
  const handle = Buffer.alloc(8 + maxHandleBytes);
  handle.writeUInt32LE(maxHandleBytes, 0);
  if (c.nameToHandle(AT_FDCWD, terminated(path), handle, [0], 0) !== 0) return null;
  return { type: handle.readInt32LE(4), bytes: handle.subarray(8, 8 + handle.readUInt32LE(0)) };
}

/** Null: the filesystem of `mountFd` no longer has the inode. Needs root. */
export function openByHandle(mountFd: number, { type, bytes }: { type: number; bytes: Uint8Array }): number | null {
  const handle = Buffer.alloc(8 + bytes.length);
  handle.writeUInt32LE(bytes.length, 0);
  handle.writeInt32LE(type, 4);
  handle.set(bytes, 8);
  const fd = c.openByHandle(mountFd, handle, O_PATH);
  if (fd >= 0) return fd;
  const found = errno();
  if (found === os.errno.ESTALE || found === os.errno.ENOENT) return null;
  throw new SysError('open_by_handle_at', found);
}

export function removeMark(path: Uint8Array, name: string): void {
  const done = c.lremovexattr(terminated(path), name);
  const found = done === 0 ? 0 : errno();
  if (![0, os.errno.ENODATA, os.errno.ENOENT].includes(found)) throw new SysError(`removexattr ${name}`, found);
}

/**
 * Sets the times of an open file, folder or link in nanoseconds, for which a number of seconds is not precise enough.
 */
export function setTimes(fd: number, accessedNs: bigint, changedNs: bigint): void {
  const times = Buffer.alloc(32);
  [accessedNs, changedNs].forEach((ns, at) => {
    const withinSecond = ((ns % second) + second) % second;
    times.writeBigInt64LE((ns - withinSecond) / second, at * 16);
    times.writeBigInt64LE(withinSecond, at * 16 + 8);
  });
  checked('utimensat', c.utimensat(fd, Buffer.alloc(1), times, AT_EMPTY_PATH));
}

const second = 1_000_000_000n;

/** The next extent of data in an open file. Null: only a hole follows. */
export function nextData(fd: number, from: number): { readonly start: number; readonly end: number } | null {
  const SEEK_DATA = 3;
  const SEEK_HOLE = 4;
  const start = Number(c.lseek(fd, from, SEEK_DATA));
  if (start < 0 && errno() === os.errno.ENXIO) return null;
  checked('lseek', start);
  return { start, end: checked('lseek', Number(c.lseek(fd, start, SEEK_HOLE))) };
}

export const statBytes = 256;
const STATX_BASIC_STATS_AND_BIRTH = 0xfff;

/** struct statx of one name in an open folder, without following a link. False: the name does not exist. */
export function statAt({ folderFd, name }: NamedEntry, into: Buffer): boolean {
  const AT_SYMLINK_NOFOLLOW = 0x100;
  if (c.statx(folderFd, terminated(name), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS_AND_BIRTH, into) === 0) return true;
  const found = errno();
  if (found === os.errno.ENOENT || found === os.errno.ENOTDIR) return false;
  throw new SysError('statx', found);
}

/** Node opens by paths only, and resolving an open folder through /proc costs more than the open itself. */
export function openAt({ folderFd, name }: NamedEntry, flags: number): number {
  const O_CLOEXEC = 0o2000000;
  return checked('openat', c.openat(folderFd, terminated(name), flags | O_CLOEXEC));
}

/** struct statx of an open entry. */
export function statOpen(fd: number, into: Buffer): void {
  checked('statx', c.statx(fd, noName, AT_EMPTY_PATH, STATX_BASIC_STATS_AND_BIRTH, into));
}

const noName = Buffer.alloc(1);

/** Creates a file for reading and writing; EEXIST: the name is taken. The umask narrows its mode. */
export function createAt({ folderFd, name }: NamedEntry, mode: number): number {
  const flags = 0o2 /* O_RDWR */ | 0o100 /* O_CREAT */ | 0o200 /* O_EXCL */ | 0o2000000; /* O_CLOEXEC */
  return checked('openat', c.create(folderFd, terminated(name), flags, mode));
}

/** Gives a file or a link another name; a link is not followed. */
export function linkAt(file: NamedEntry, name: NamedEntry): void {
  const [from, to] = [terminated(file.name), terminatedSecond(name.name)];
  checked('linkat', c.linkat(file.folderFd, from, name.folderFd, to, 0));
}

/** The next entries of an open folder, as many as fit, as struct linux_dirent64. Returns their length, 0 at the end. */
export function readEntries(fd: number, into: Buffer): number {
  const number = process.arch === 'x64' ? 217 : 61;
  return checked('getdents64', Number(c.getdents(number, fd, into, into.length)));
}

/** The next `readEntries` begins with the first entry. */
export function rewind(fd: number): void {
  checked('lseek', Number(c.lseek(fd, 0, 0 /* SEEK_SET */)));
}

/** Makes a folder in an open one; it is no error if the name exists already, for example as a link. */
export function makeFolderAt({ folderFd, name }: NamedEntry, mode: number): void {
  if (c.mkdirat(folderFd, terminated(name), mode) === 0) return;
  const found = errno();
  if (found !== os.errno.EEXIST) throw new SysError('mkdirat', found);
}
