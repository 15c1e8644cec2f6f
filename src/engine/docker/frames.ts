/**
 * Two streams in one, as the Docker Engine sends them: before each piece a byte that names the stream, three zeros and
 * the length of the piece.
 */
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';

export interface Frame {
  readonly stream: 'stdout' | 'stderr';
  readonly bytes: Buffer;
}

const headerBytes = 8;
const STDERR = 2;

export class FrameReader {
  #held: Buffer = Buffer.alloc(0);

  /** The frames that are complete with this. */
  *push(chunk: Buffer): Generator<Frame> {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    while (this.#held.length >= headerBytes) {
      const end = headerBytes + this.#held.readUInt32BE(4);
      if (this.#held.length < end) return;
      const stream = this.#held[0] === STDERR ? 'stderr' : 'stdout';
      const bytes = this.#held.subarray(headerBytes, end);
      this.#held = this.#held.subarray(end);
      yield { stream, bytes };
    }
  }
}

export interface Outputs {
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
}

export interface OutputHooks {
  /** Sees each frame first; true keeps it from the readers. */
  readonly keep?: (frame: Frame) => boolean;
  /** Called when nothing more comes; ends the streams. */
  readonly end?: (outputs: Outputs) => void;
}

/** Splits a connection in two, or with a terminal hands it on whole. The slower of the readers sets the pace. */
export function readOutputs(socket: Socket, terminal: boolean, hooks: OutputHooks = {}): Outputs {
  const outputs = { stdout: new PassThrough(), stderr: new PassThrough() };
  const reader = new FrameReader();
  const take = (chunk: Buffer) => {
    const frames: Iterable<Frame> = terminal ? [{ stream: 'stdout', bytes: chunk }] : reader.push(chunk);
    let ready = true;
    for (const frame of frames) {
      if (!hooks.keep?.(frame)) ready = outputs[frame.stream].write(frame.bytes) && ready;
    }
    if (!ready) socket.pause();
  };
  const goOn = () => {
    if (!outputs.stdout.writableNeedDrain && !outputs.stderr.writableNeedDrain) socket.resume();
  };
  outputs.stdout.on('drain', goOn);
  outputs.stderr.on('drain', goOn);
  socket.on('data', take);
  // An engine that breaks off is an end like any other; whoever asks it about the process learns more.
  socket.on('error', () => {});
  socket.on('close', () => (hooks.end ?? endBoth)(outputs));
  return outputs;
}

export function endBoth({ stdout, stderr }: Outputs): void {
  stdout.end();
  stderr.end();
}
