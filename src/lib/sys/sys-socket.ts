/** System calls about unix sockets that Node does not offer, through FFI. Each either returns or throws a SysError. */
import { Socket } from 'node:net';
import { constants as os } from 'node:os';
import { checked, errno, libc, SysError } from './libc.ts';

const c = {
  socket: libc('int socket(int domain, int type, int protocol)'),
  socketpair: libc('int socketpair(int domain, int type, int protocol, _Out_ int *pair)'),
  connect: libc('int connect(int fd, const void *address, uint32_t length)'),
  dup2: libc('int dup2(int from, int to)'),
  close: libc('int close(int fd)'),
  getsockopt: libc('int getsockopt(int fd, int level, int name, _Out_ void *value, _Inout_ uint32_t *length)'),
  recv: libc('long recv(int fd, _Out_ void *buffer, size_t length, int flags)'),
};

const AF_UNIX = 1;
const SOCK_STREAM = 1;
const SOCK_SEQPACKET = 5;
const SOCK_CLOEXEC = 0o2000000;
const SOCK_NONBLOCK = 0o4000;
const maxSocketPath = 107;

export interface PacketSocket {
  /** Each `data` event of the flowing socket is one packet. */
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
 * Wraps a descriptor that can be polled in a net.Socket, paused. Node refuses most of them by their type, so the socket
 * is made on a stream pair, whose descriptor is then replaced before anything is read from it. The source is closed.
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

/** A connected unix socket of that type. */
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

const maxPacketBytes = 64 * 1024;

function queuedPackets(fd: number): Buffer[] {
  const MSG_DONTWAIT = 0x40;
  const packets: Buffer[] = [];
  const buffer = Buffer.alloc(maxPacketBytes);
  for (;;) {
    const bytes = Number(c.recv(fd, buffer, buffer.length, MSG_DONTWAIT));
    // ECONNRESET is reported once; packets that were sent before follow it.
    if (bytes < 0 && errno() === os.errno.ECONNRESET) continue;
    if (bytes <= 0) return packets;
    packets.push(Buffer.from(buffer.subarray(0, bytes)));
  }
}
