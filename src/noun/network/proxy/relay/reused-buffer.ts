/**
 * Sockets that reuse one buffer for all reads (`onread` of Node): allocating memory for every read costs more than the
 * read itself (decision 27). Until a consumer takes the bytes directly, such a socket is a stream like any other.
 */
import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net';

const firstBufferBytes = 64 * 1024;
/** The size for sockets that fill the first buffer. */
const fullBufferBytes = 256 * 1024;
/** The size for sockets that fill that one, too, as long as they are few. */
const bulkBufferBytes = 1024 * 1024;
const bulkAtOnce = 64;
/** A larger read is pushed with its buffer, a smaller one is copied. */
const copiedBytes = 16 * 1024;
const lineFeed = 0x0a;

/** The bytes are valid until the function returns, or as long as the socket is paused. */
export type Take = (bytes: Buffer) => void;

const buffers = new WeakMap<Socket, ReusedBuffer>();
let bulkCount = 0;

/** `make` creates the socket with this option. */
export function withReusedBuffer(make: (onread: OnReadOpts) => Socket): Socket {
  const reused = new ReusedBuffer();
  const socket = make({ buffer: () => reused.buffer, callback: (bytes) => reused.got(bytes) });
  reused.socket = socket;
  buffers.set(socket, reused);
  return socket;
}

/** Takes over the descriptor of a connected socket. */
export function adopt(fd: number): Socket {
  return withReusedBuffer((onread) => new Socket({ fd, allowHalfOpen: true, onread } as SocketConstructorOpts));
}

/** From now on `take` gets the bytes; earlier ones are still emitted as data. */
export function takeDirectly(socket: Socket, take: Take): void {
  const reused = buffers.get(socket);
  if (reused) reused.take = take;
}

/**
 * From now on each line is emitted separately, so that bytes after an HTTP head can be taken directly. Only for sockets
 * before their first read.
 */
export function readLines(socket: Socket): void {
  const reused = buffers.get(socket);
  if (reused) reused.isByLine = true;
}

/** Ends `readLines`; called while a line is emitted. True: no byte after the line was emitted as data. */
export function endLines(socket: Socket): boolean {
  const reused = buffers.get(socket);
  if (reused) reused.isByLine = false;
  return reused?.isInLine ?? false;
}

class ReusedBuffer {
  buffer = Buffer.allocUnsafeSlow(firstBufferBytes);
  socket: Socket | null = null;
  take: Take | null = null;
  isByLine = false;
  isInLine = false;

  /** Handles a read of `count` bytes. False: the socket stops reading. */
  got(count: number): boolean {
    let bytes: Buffer = this.buffer.subarray(0, count);
    while (this.isByLine && bytes.length > 0) bytes = this.#pushLine(bytes);
    if (this.take === null) return this.socket!.push(this.#kept(bytes));
    if (bytes.length > 0) this.take(bytes);
    if (count === this.buffer.length) this.#grow();
    return true;
  }

  /** Pushes the first line and returns the bytes after it. */
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
