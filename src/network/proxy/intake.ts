/**
 * Sockets that read into the same memory again and again. Otherwise every read gets new memory, which costs as much as the
 * reading. Until somebody takes the bytes directly they are streams like any other.
 */
import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net';
import { duplicate } from '../../lib/network-namespace.ts';

const firstBufferBytes = 64 * 1024;
/** For those who fill the first. */
const fullBufferBytes = 256 * 1024;
/** For those who fill that, too, as long as they are few. */
const bulkBufferBytes = 1024 * 1024;
const bulkAtOnce = 64;
/** More than this is handed over with its memory, less is copied. */
const copiedBytes = 16 * 1024;
const lineFeed = 0x0a;

/** May keep the bytes as long as the socket is paused and no longer. */
export type Take = (bytes: Buffer) => void;

const intakes = new WeakMap<Socket, Intake>();
let bulkCount = 0;

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

/**
 * From now on each line is data of its own: whoever reads a head from it can have what follows directly. Only for sockets
 * that nothing was read from.
 */
export function readLines(socket: Socket): void {
  const intake = intakes.get(socket);
  if (intake) intake.isByLine = true;
}

/** To be called by who got a line as data. True: of what follows nothing was read as data yet. */
export function endLines(socket: Socket): boolean {
  const intake = intakes.get(socket);
  if (intake) intake.isByLine = false;
  return intake?.isInLine ?? false;
}

class Intake {
  buffer = Buffer.allocUnsafeSlow(firstBufferBytes);
  socket: Socket | null = null;
  take: Take | null = null;
  isByLine = false;
  isInLine = false;

  /** False: not now. */
  got(count: number): boolean {
    let bytes: Buffer = this.buffer.subarray(0, count);
    while (this.isByLine && bytes.length > 0) bytes = this.#pushLine(bytes);
    if (this.take === null) return this.socket!.push(this.#kept(bytes));
    if (bytes.length > 0) this.take(bytes);
    if (count === this.buffer.length) this.#grow();
    return true;
  }

  /** What follows it. */
  #pushLine(bytes: Buffer): Buffer {
    const end = bytes.indexOf(lineFeed) + 1 || bytes.length;
    this.isInLine = true;
    this.socket!.push(Buffer.from(bytes.subarray(0, end)));
    this.isInLine = false;
    return bytes.subarray(end);
  }

  #grow(): void {
    if (this.buffer.length === firstBufferBytes) this.buffer = Buffer.allocUnsafeSlow(fullBufferBytes);
    else if (this.buffer.length === fullBufferBytes && bulkCount < bulkAtOnce) {
      bulkCount += 1;
      this.socket!.once('close', () => {
        bulkCount -= 1;
      });
      this.buffer = Buffer.allocUnsafeSlow(bulkBufferBytes);
    }
  }

  #kept(bytes: Buffer): Buffer {
    if (bytes.length <= copiedBytes) return Buffer.from(bytes);
    this.buffer = Buffer.allocUnsafeSlow(firstBufferBytes);
    return bytes;
  }
}
