/**
 * Sockets that read into the same memory again and again. Otherwise every read gets new memory, which costs as much as the
 * reading. Until somebody takes the bytes directly they are streams like any other.
 */
import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net';
import { duplicate } from '../../lib/network-namespace.ts';

const firstBufferBytes = 64 * 1024;
/** For those who fill the first. */
const fullBufferBytes = 256 * 1024;
/** More than this is handed over with its memory, less is copied. */
const copiedBytes = 16 * 1024;

/** May keep the bytes as long as the socket is paused and no longer. */
export type Take = (bytes: Buffer) => void;

const intakes = new WeakMap<Socket, Intake>();

/** A socket that is made with these options. */
export function withIntake(make: (onread: OnReadOpts) => Socket): Socket {
  const intake = new Intake();
  const socket = make({ buffer: () => intake.buffer, callback: (bytes) => intake.got(bytes) });
  intake.socket = socket;
  intakes.set(socket, intake);
  return socket;
}

/** Of a connected socket, which it owns from now on. */
export function adopt(fd: number): Socket {
  return withIntake((onread) => new Socket({ fd, allowHalfOpen: true, onread } as SocketConstructorOpts));
}

/** In the place of one that a server accepted and nobody has read from, by the descriptor that Node keeps to itself. */
export function replace(accepted: Socket): Socket {
  const { fd } = (accepted as unknown as { readonly _handle: { readonly fd: number } })._handle;
  const socket = adopt(duplicate(fd));
  accepted.destroy();
  return socket;
}

/** From now on bytes come this way; those that were read before still come as data. False: the socket has no such way. */
export function takeDirectly(socket: Socket, take: Take): boolean {
  const intake = intakes.get(socket);
  if (intake) intake.take = take;
  return intake !== undefined;
}

class Intake {
  buffer = Buffer.allocUnsafeSlow(firstBufferBytes);
  socket: Socket | null = null;
  take: Take | null = null;

  /** False: not now. */
  got(count: number): boolean {
    const bytes = this.buffer.subarray(0, count);
    if (this.take === null) return this.socket!.push(this.#kept(bytes));
    this.take(bytes);
    if (count === this.buffer.length && count < fullBufferBytes) this.buffer = Buffer.allocUnsafeSlow(fullBufferBytes);
    return true;
  }

  #kept(bytes: Buffer): Buffer {
    if (bytes.length <= copiedBytes) return Buffer.from(bytes);
    this.buffer = Buffer.allocUnsafeSlow(firstBufferBytes);
    return bytes;
  }
}
