/**
 * Sockets in network namespaces of other processes. A socket belongs to the namespace of the thread that creates it,
 * even if another thread uses it. A thread that enters another namespace may fail to return, so it must be a thread
 * that makes no other connections: its own namespace is empty.
 *
 * Linux only; layouts and constants are the same on x86-64 and arm64.
 */
import { closeSync, constants, fstatSync, openSync, statSync } from 'node:fs';
import { constants as os } from 'node:os';
import { isAlive, type ProcessRef } from '../process/process.ts';
import { checked, libc, SysError } from './libc.ts';

const c = {
  setns: libc('int setns(int fd, int type)'),
  unshare: libc('int unshare(int flags)'),
  socket: libc('int socket(int domain, int type, int protocol)'),
  setsockopt: libc('int setsockopt(int fd, int level, int name, const void *value, uint32_t length)'),
  bind: libc('int bind(int fd, const void *address, uint32_t length)'),
  listen: libc('int listen(int fd, int backlog)'),
  connect: libc('int connect(int fd, const void *address, uint32_t length)'),
  poll: libc('int poll(void *entries, unsigned long count, int timeoutMs)'),
  getsockopt: libc('int getsockopt(int fd, int level, int name, void *value, void *length)'),
  ioctl: libc('int ioctl(int fd, unsigned long request, void *value)'),
  fcntl: libc('int fcntl(int fd, int command, int argument)'),
};

const { errno } = os;
const CLONE_NEWNET = 0x4000_0000;
const SOL_SOCKET = 1;
const SO_REUSEADDR = 2;
const SO_ERROR = 4;
const SOCK_STREAM = 1;
const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2000000;
const families = { 4: 2, 6: 10 } as const;

/** The thread that constructs a NamespaceEntry leaves the network of the process for good. */
export class NamespaceEntry {
  readonly #own: number;

  constructor() {
    checked('unshare', c.unshare(CLONE_NEWNET));
    this.#own = openSync('/proc/thread-self/ns/net', constants.O_RDONLY);
  }

  /** A socket that listens on loopback in the namespace of the process. */
  listen(process: ProcessRef, port: number, backlog: number): number {
    return this.#socketIn(process, 4, (fd) => {
      const one = Buffer.from([1, 0, 0, 0]);
      const address = loopback(4, port);
      checked('setsockopt', c.setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, one, one.length));
      checked(`bind 127.0.0.1:${port}`, c.bind(fd, address, address.length));
      checked('listen', c.listen(fd, backlog));
    });
  }

  /** A socket that is connected to loopback in the namespace of the process. Fails when there is no answer at once. */
  connect(process: ProcessRef, port: number, family: 4 | 6): number {
    return this.#socketIn(process, family, (fd) => {
      const address = loopback(family, port);
      try {
        checked('connect', c.connect(fd, address, address.length));
      } catch (error) {
        if (!(error instanceof SysError) || error.code !== 'EINPROGRESS') throw error;
        awaitConnected(fd);
      }
    });
  }

  #socketIn(process: ProcessRef, family: 4 | 6, prepare: (fd: number) => void): number {
    const namespace = openNamespace(process);
    try {
      checked('setns', c.setns(namespace, CLONE_NEWNET));
      const fd = checked('socket', c.socket(families[family], SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      try {
        prepare(fd);
        return fd;
      } catch (error) {
        closeSync(fd);
        throw error;
      }
    } finally {
      closeSync(namespace);
      // A thread that stays inside keeps that namespace alive.
      checked('setns', c.setns(this.#own, CLONE_NEWNET));
    }
  }
}

/** On loopback the kernel decides within microseconds; a listener inside may leave its queue full on purpose. */
const connectMs = 20;

function awaitConnected(fd: number): void {
  const POLLOUT = 4;
  const entry = Buffer.alloc(8);
  entry.writeInt32LE(fd, 0);
  entry.writeInt16LE(POLLOUT, 4);
  if (checked('poll', c.poll(entry, 1, connectMs)) === 0) throw new SysError('connect', errno.ETIMEDOUT);
  const [value, length] = [Buffer.alloc(4), Buffer.from([4, 0, 0, 0])];
  checked('getsockopt', c.getsockopt(fd, SOL_SOCKET, SO_ERROR, value, length));
  if (value.readInt32LE(0) !== 0) throw new SysError('connect', value.readInt32LE(0));
}

/** Opens the namespace before the check: a process that is still alive then had this namespace when it was opened. */
function openNamespace(process: ProcessRef): number {
  const path = `/proc/${process.pid}/ns/net`;
  const fd = openSync(path, constants.O_RDONLY);
  // `self` is the process, not this thread: the network of the proxy itself is never entered.
  if (isAlive(process) && fstatSync(fd).ino !== statSync('/proc/self/ns/net').ino) return fd;
  closeSync(fd);
  throw new SysError(`open ${path}`, errno.ESRCH);
}

function loopback(family: 4 | 6, port: number): Buffer {
  const address = Buffer.alloc(family === 4 ? 16 : 28);
  address.writeUInt16LE(families[family], 0);
  address.writeUInt16BE(port, 2);
  if (family === 4) address.set([127, 0, 0, 1], 4);
  else address[23] = 1;
  return address;
}

/** A second descriptor of the same open socket. */
export function duplicate(fd: number): number {
  const F_DUPFD_CLOEXEC = 1030;
  return checked('fcntl', c.fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

/** Brings up loopback in the network namespace of this thread, where it is down at first. */
export function raiseLoopback(): void {
  const SIOCSIFFLAGS = 0x8914;
  const [IFF_UP, IFF_RUNNING] = [0x1, 0x40];
  const [requestBytes, flagsAt] = [40, 16];
  const request = Buffer.alloc(requestBytes);
  request.write('lo');
  request.writeUInt16LE(IFF_UP | IFF_RUNNING, flagsAt);
  const fd = checked('socket', c.socket(families[4], SOCK_STREAM | SOCK_CLOEXEC, 0));
  try {
    checked('ioctl', c.ioctl(fd, SIOCSIFFLAGS, request));
  } finally {
    closeSync(fd);
  }
}
