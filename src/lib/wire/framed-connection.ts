import { once } from 'node:events';
import type { Duplex, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { Fault } from '../../model/fault.ts';
import { encodeFrame, encodeJson, type Frame, FrameReader, type FrameType } from './stream.ts';

/** The daemon's end of a framed stream: frames are delivered one at a time and sent at the pace of the client. */
export class FramedConnection {
  readonly #socket: Duplex;
  readonly #reader = new FrameReader();
  readonly #frames: Frame[] = [];
  onFrame: ((frame: Frame) => boolean) | null = null;
  onGone: () => void = () => {};
  gone: boolean;

  constructor(socket: Duplex, head: Buffer) {
    this.#socket = socket;
    this.gone = socket.destroyed;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    // The end of input is a frame; a client that closes its side has gone.
    socket.on('end', () => socket.destroy());
    socket.on('close', () => {
      this.gone = true;
      this.onGone();
    });
    if (head.length > 0) this.#take(head);
  }

  #take(chunk: Buffer): void {
    try {
      this.#frames.push(...this.#reader.push(chunk));
      this.deliver();
    } catch {
      this.#socket.destroy();
    }
  }

  /** Delivers frames until the receiver cannot take more. */
  deliver(): void {
    while (this.onFrame !== null && this.#frames.length > 0) {
      if (!this.onFrame(this.#frames.shift()!)) {
        this.#socket.pause();
        return;
      }
    }
    this.#socket.resume();
  }

  first(): Promise<Frame> {
    return new Promise((resolve, reject) => {
      this.onGone = () => reject(new Fault('cancelled', 'the client disconnected'));
      this.onFrame = (frame) => {
        this.onFrame = null;
        resolve(frame);
        return true;
      };
      if (this.gone) this.onGone();
      this.deliver();
    });
  }

  /** Resolves when the stream ends. Without a client the rest is read and dropped, so its writer is not blocked. */
  async forward(type: FrameType, stream: Readable): Promise<void> {
    stream.on('data', (chunk: Buffer) => {
      if (this.gone || this.#socket.write(encodeFrame(type, chunk))) return;
      stream.pause();
      const resume = () => {
        this.#socket.off('drain', resume);
        this.#socket.off('close', resume);
        stream.resume();
      };
      this.#socket.on('drain', resume);
      this.#socket.on('close', resume);
    });
    await finished(stream, { writable: false }).catch(() => {});
  }

  /** Resolves when the socket has room for more, or is closed. */
  async send(type: FrameType, bytes: Buffer): Promise<void> {
    if (this.gone || this.#socket.write(encodeFrame(type, bytes))) return;
    const free = new AbortController();
    const events = ['drain', 'close'].map((name) => once(this.#socket, name, { signal: free.signal }).catch(() => {}));
    await Promise.race(events);
    free.abort();
  }

  /** A notice about the connection itself. */
  note(message: string): void {
    if (!this.gone) this.#socket.write(encodeJson('notice', { message }));
  }

  finish(type: 'exit' | 'fault', value: unknown): void {
    if (!this.gone) this.#socket.end(encodeJson(type, value));
  }
}
