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

  /** What was cut off within a frame is lost. */
  *end(): Generator<Frame> {}
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
  /** Whether the process has ended. */
  readonly over: () => Promise<boolean>;
  /** Nothing is held back as long as this is true. */
  readonly isFree?: () => boolean;
}

/** The engine throws away what nobody has read two seconds after the end of a process. */
const lookMs = 300;

/**
 * Splits a connection in two, or with a terminal hands it on whole. The slower of the readers sets the pace, until the
 * process has ended: then the little that the engine still holds is taken in at once.
 */
export function readOutputs(socket: Socket, terminal: boolean, hooks: OutputHooks): Outputs {
  const outputs = { stdout: new PassThrough(), stderr: new PassThrough() };
  const reader = new FrameReader();
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
    const frames: Iterable<Frame> = terminal ? [{ stream: 'stdout', bytes: chunk }] : reader.push(chunk);
    for (const frame of frames) if (!hooks.keep?.(frame)) outputs[frame.stream].write(frame.bytes);
    if (isSlow() && !over && !hooks.isFree?.()) holdBack();
  });
  // An engine that breaks off is an end like any other; whoever asks it about the process learns more.
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
