/**
 * The log of a command with a terminal, which a Docker Engine sends without frames: `TIME CONTENT` after `TIME
 * CONTENT`. A record ends with a newline, except pieces of a long line, which have a fixed length. With the `local`
 * driver the last piece has no newline either; there the next time shows where it ended.
 */
import type { OutputFrame } from '../connection/frames.ts';

const newline = 0x0a;
const space = 0x20;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z /;
const timeBytes = 31;

export class RawLogReader {
  readonly #pieceBytes: number;
  #held: Buffer = Buffer.alloc(0);
  #withinLine = false;

  constructor(pieceBytes: number) {
    this.#pieceBytes = pieceBytes;
  }

  /** The records that this chunk completes. */
  *push(chunk: Buffer): Generator<OutputFrame> {
    this.#held = Buffer.concat([this.#held, chunk]);
    for (let end = this.#end(); end !== null; end = this.#end()) yield this.#take(end);
  }

  /** The incomplete record. */
  *end(): Generator<OutputFrame> {
    if (this.#held.length > 0) yield this.#take(this.#held.length);
  }

  #take(end: number): OutputFrame {
    const bytes = this.#held.subarray(0, end);
    this.#held = this.#held.subarray(end);
    this.#withinLine = bytes.at(-1) !== newline && bytes.length - bytes.indexOf(space) > this.#pieceBytes;
    return { stream: 'stdout', bytes };
  }

  #end(): number | null {
    const start = this.#held.indexOf(space) + 1;
    if (start === 0) return null;
    const full = start + this.#pieceBytes;
    const line = this.#held.subarray(0, full).indexOf(newline, start) + 1;
    const next = this.#withinLine ? this.#held.toString('latin1', start, line || full + timeBytes).search(time) : -1;
    if (next >= 0) return start + next;
    if (line > 0) return line;
    return this.#held.length >= full ? full : null;
  }
}
