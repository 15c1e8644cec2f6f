/**
 * The format in which the Docker Engine multiplexes two streams: each piece follows a byte that names the stream, three
 * zeros and the length.
 */
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';

export interface OutputFrame {
  readonly stream: 'stdout' | 'stderr';
  readonly bytes: Buffer;
}

const headerBytes = 8;
const STDERR = 2;

export class OutputFrameReader {
  #held: Buffer = Buffer.alloc(0);

  /** The frames that this chunk completes. */
  *push(chunk: Buffer): Generator<OutputFrame> {
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

  /** Drops an incomplete frame. */
  *end(): Generator<OutputFrame> {}
}

export interface Outputs {
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
}

export interface OutputHooks {
  /** Called with each frame first; true withholds the frame from readers. */
  readonly keep?: (frame: OutputFrame) => boolean;
  /** Called after the last frame; ends the streams. */
  readonly end?: (outputs: Outputs) => void;
  /** Whether the process has ended. */
  readonly over: () => Promise<boolean>;
  /** While true, there is no back-pressure. */
  readonly isFree?: () => boolean;
}

/**
 * The interval of checks for the end of the process: the engine drops output that is not read within two seconds after
 * it.
 */
const lookMs = 300;

/**
 * Splits a connection into two streams, or with a terminal passes it on as one. The slower reader causes back-pressure
 * until the process has ended; then the rest of the output is read into memory at once.
 */
export function readOutputs(socket: Socket, terminal: boolean, hooks: OutputHooks): Outputs {
  const outputs = { stdout: new PassThrough(), stderr: new PassThrough() };
  const reader = new OutputFrameReader();
  const isSlow = () => outputs.stdout.writableNeedDrain || outputs.stderr.writableNeedDrain;
  let look: NodeJS.Timeout | null = null;
  let over = false;
  const goOn = () => {
    if (look) clearInterval(look);
    look = null;
    socket.resume();
  };
  const holdBack = () => {
    socket.pause();
    look ??= setInterval(async () => {
      over ||= await hooks.over().catch(() => false);
      if (over) goOn();
    }, lookMs);
  };
  const drained = () => {
    if (!isSlow()) goOn();
  };
  outputs.stdout.on('drain', drained);
  outputs.stderr.on('drain', drained);
  socket.on('data', (chunk: Buffer) => {
    const frames: Iterable<OutputFrame> = terminal ? [{ stream: 'stdout', bytes: chunk }] : reader.push(chunk);
    for (const frame of frames) if (!hooks.keep?.(frame)) outputs[frame.stream].write(frame.bytes);
    if (isSlow() && !over && !hooks.isFree?.()) holdBack();
  });
  // A lost connection counts as an end; the next request about the process reports more.
  socket.on('error', () => {});
  socket.on('close', () => {
    if (look) clearInterval(look);
    (hooks.end ?? endBoth)(outputs);
  });
  return outputs;
}

export function endBoth({ stdout, stderr }: Outputs): void {
  stdout.end();
  stderr.end();
}
