/**
 * The system calls that Node does not offer, through FFI; those about mounts are in sys-mount.ts. Each either returns or throws
 * a SysError with its errno name. Linux only; struct layouts and constants here are the same on x86-64 and arm64.
 */

import { Socket } from 'node:net';
import { constants as os } from 'node:os';
import { O_PATH } from './anchor.ts';
import { AT_EMPTY_PATH, AT_FDCWD, checked, errno, libc, SysError } from './libc.ts';

export { SysError };

const c = {
  socket: libc('int socket(int domain, int type, int protocol)'),
  socketpair: libc('int socketpair(int domain, int type, int protocol, _Out_ int *pair)'),
  connect: libc('int connect(int fd, const void *address, uint32_t length)'),
  dup2: libc('int dup2(int from, int to)'),
  close: libc('int close(int fd)'),
  pipe2: libc('int pipe2(_Out_ int *pair, int flags)'),
  getsockopt: libc('int getsockopt(int fd, int level, int name, _Out_ void *value, _Inout_ uint32_t *length)'),
  recv: libc('long recv(int fd, _Out_ void *buffer, size_t length, int flags)'),
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

const AF_UNIX = 1;
const SOCK_STREAM = 1;
const SOCK_SEQPACKET = 5;
const SOCK_CLOEXEC = 0o2000000;
const SOCK_NONBLOCK = 0o4000;
const maxSocketPath = 107;

export interface PacketSocket {
  /** Each `data` event is one packet while it flows. */
  readonly socket: Socket;
  /** For writing, so that a failed write does not close the side that still has packets to read. */
  readonly input: Socket;
  /** For `end` and `error`: returns the packets that Node did not read. */
  rest(): Buffer[];
}

/**
 * A socket connected to a SOCK_SEQPACKET unix socket, as an ordinary net.Socket. Node takes a hang-up after a short read
 * for the end, as it would be on a stream; packets queued by then are in `rest`. A peer that closes with input unread is
 * reported as ECONNRESET ahead of the packets it sent before, and Node closes its descriptor on that; so `rest` has its own.
 */
export function connectSeqpacket(path: string): PacketSocket {
  const connection = connected(path, SOCK_SEQPACKET);
  try {
    const { socket } = socketOn(connection);
    socket.once('close', () => c.close(connection));
    return { socket, input: socketOn(connection, false).socket, rest: () => queuedPackets(connection) };
  } catch (error) {
    c.close(connection);
    throw error;
  }
}

/**
 * A descriptor that can be waited for, as a net.Socket, paused. Node refuses most of them by their type, so the socket is
 * made on a stream pair, whose descriptor is then replaced before anything was read from it. The source is closed.
 */
export function asSocket(source: number): { readonly socket: Socket; readonly fd: number } {
  try {
    return socketOn(source);
  } finally {
    c.close(source);
  }
}

function socketOn(source: number, readable = true): { readonly socket: Socket; readonly fd: number } {
  const pair = [0, 0];
  checked('socketpair', c.socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
  const [fd, other] = pair as [number, number];
  const socket = new Socket({ fd, readable, writable: true, allowHalfOpen: true });
  socket.pause();
  checked('dup2', c.dup2(source, fd));
  c.close(other);
  return { socket, fd };
}

/** A unix socket of that type. */
function connected(path: string, type: number): number {
  const length = Buffer.byteLength(path);
  if (length > maxSocketPath) throw new SysError('connect', os.errno.ENAMETOOLONG);
  const address = Buffer.alloc(2 + length + 1);
  address.writeUInt16LE(AF_UNIX, 0);
  address.write(path, 2);
  // Non-blocking: a peer that does not accept must not block the daemon.
  const fd = checked('socket', c.socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  try {
    checked('connect', c.connect(fd, address, address.length));
    return fd;
  } catch (error) {
    c.close(fd);
    throw error;
  }
}

/** The pid of the process that started to listen on a unix socket; 0 if it is not visible in this namespace. */
export function listenerOf(path: string): number {
  const fd = connected(path, SOCK_STREAM);
  try {
    return peerOf(fd).pid;
  } finally {
    c.close(fd);
  }
}

/** The process at the other end of a unix socket, as the kernel recorded it at connect or listen. */
export function peerOf(fd: number): { readonly pid: number; readonly uid: number } {
  const [SOL_SOCKET, SO_PEERCRED] = [1, 17];
  const credentials = Buffer.alloc(12);
  checked('getsockopt', c.getsockopt(fd, SOL_SOCKET, SO_PEERCRED, credentials, [credentials.length]));
  return { pid: credentials.readInt32LE(0), uid: credentials.readUInt32LE(4) };
}

/** Child processes inherit no descriptor except those that are passed to them. */
export function keepDescriptors(): void {
  const CLOSE_RANGE_CLOEXEC = 4;
  checked('close_range', c.closeRange(numbers.closeRange, 3, 0xffff_ffff, CLOSE_RANGE_CLOEXEC));
}

/** Makes the second descriptor a duplicate of the first; what it was is closed. */
export function replaceDescriptor(by: number, replaced: number): void {
  checked('dup2', c.dup2(by, replaced));
}

/** Both ends of a pipe. Node gives children sockets instead, and those cannot be opened again as /dev/stdout. */
export function pipe(): [read: number, write: number] {
  const O_CLOEXEC = 0o2000000;
  const pair = [0, 0];
  checked('pipe2', c.pipe2(pair, O_CLOEXEC));
  return pair as [number, number];
}

const maxPacketBytes = 64 * 1024;

function queuedPackets(fd: number): Buffer[] {
  const MSG_DONTWAIT = 0x40;
  const packets: Buffer[] = [];
  const buffer = Buffer.alloc(maxPacketBytes);
  for (;;) {
    const bytes = Number(c.recv(fd, buffer, buffer.length, MSG_DONTWAIT));
    // Reported once; packets that were sent before follow it.
    if (bytes < 0 && errno() === os.errno.ECONNRESET) continue;
    if (bytes <= 0) return packets;
    packets.push(Buffer.from(buffer.subarray(0, bytes)));
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

/** Exchanges two existing entries atomically. EINVAL: the filesystem cannot. */
export function renameExchange(one: FolderEntry, other: FolderEntry): void {
  const RENAME_EXCHANGE = 2;
  renameAt(one, other, RENAME_EXCHANGE);
}

/** EEXIST: the new name is taken. EINVAL: the filesystem cannot. */
export function renameNoReplace(from: FolderEntry, to: FolderEntry): void {
  const RENAME_NOREPLACE = 1;
  renameAt(from, to, RENAME_NOREPLACE);
}

function renameAt(from: FolderEntry, to: FolderEntry, flags: number): void {
  // Older than the numbers below, so each architecture has its own.
  const number = process.arch === 'x64' ? 316 : 276;
  const [fromName, toName] = [terminated(from.name), terminated(to.name)];
  checked('renameat2', c.renameat2(number, from.folderFd, fromName, to.folderFd, toName, flags));
}

function terminated(name: Uint8Array): Buffer {
  return Buffer.concat([name, Buffer.alloc(1)]);
}

/** Numbers of calls that libc has no names for yet; one number on every architecture since Linux 5.2. */
const numbers = { closeRange: 436, openat2: 437 } as const;

/** Opens a path for mounting from it, and refuses (ELOOP) to pass through any symbolic link. */
export function openWithoutLinks(path: string): number {
  return openResolved(path, resolve.noMagicLinks | resolve.noLinks);
}

/** The same, and refuses (EXDEV) to enter any other mount than the one of the root folder. */
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
 * An extended attribute of an open file, or of that very entry and never of what a link points to. Null: it has none, or
 * is gone.
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

/** Null: the filesystem of `mountFd` no longer has it. Needs root. */
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

/** struct statx of one name in an open folder, without following a link. False: there is none. */
export function statAt({ folderFd, name }: FolderEntry, into: Buffer): boolean {
  const AT_SYMLINK_NOFOLLOW = 0x100;
  const STATX_BASIC_STATS_AND_BIRTH = 0xfff;
  if (c.statx(folderFd, terminated(name), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS_AND_BIRTH, into) === 0) return true;
  const found = errno();
  if (found === os.errno.ENOENT || found === os.errno.ENOTDIR) return false;
  throw new SysError('statx', found);
}

/** Node opens by paths only, and resolving an open folder through /proc costs more than the open itself. */
export function openAt({ folderFd, name }: FolderEntry, flags: number): number {
  const O_CLOEXEC = 0o2000000;
  return checked('openat', c.openat(folderFd, terminated(name), flags | O_CLOEXEC));
}

/** Makes a folder in an open one; it is no error if the name exists already, for example as a link. */
export function makeFolderAt({ folderFd, name }: FolderEntry, mode: number): void {
  if (c.mkdirat(folderFd, terminated(name), mode) === 0) return;
  const found = errno();
  if (found !== os.errno.EEXIST) throw new SysError('mkdirat', found);
}
