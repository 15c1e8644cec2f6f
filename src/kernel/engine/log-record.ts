/** A record of a log file: `TIME STREAM TAG CONTENT\n`. The tag P says that the line continues in the next record. */
import type { LogLine } from './engine.ts';

const newline = 0x0a;

export function decodeRecord(record: Buffer): LogLine | null {
  const first = record.indexOf(0x20);
  const second = record.indexOf(0x20, first + 1);
  const third = record.indexOf(0x20, second + 1);
  if (first < 0 || second < 0 || third < 0) return null;
  const stream = record.toString('latin1', first + 1, second);
  const whole = record.toString('latin1', second + 1, third) === 'F';
  const content = record.subarray(third + 1);
  return {
    at: record.toString('latin1', 0, first),
    stream: stream === 'stderr' ? 'stderr' : 'stdout',
    bytes: whole ? Buffer.concat([content, Buffer.from('\n')]) : Buffer.from(content),
  };
}

/** The record, with its newline. */
export function encodeRecord({ at, stream, bytes }: LogLine): Buffer {
  const whole = bytes.at(-1) === newline;
  const head = Buffer.from(`${at} ${stream} ${whole ? 'F' : 'P'} `, 'latin1');
  return Buffer.concat([head, bytes, ...(whole ? [] : [Buffer.from('\n')])]);
}

/** The last lines of what is pushed. A line may consist of many pieces, and the last line may be incomplete. */
export class Tail {
  readonly #count: number;
  #lines: LogLine[][] = [];
  #open: LogLine[] = [];

  constructor(count: number) {
    this.#count = count;
  }

  push(piece: LogLine): void {
    this.#open.push(piece);
    if (piece.bytes.at(-1) !== newline) return;
    this.#lines.push(this.#open);
    this.#open = [];
    if (this.#lines.length > this.#count * 2 + 1024) this.#lines = this.#lines.slice(-this.#count);
  }

  /** Each line as its pieces. */
  lines(): LogLine[][] {
    const lines = this.#open.length > 0 ? [...this.#lines, this.#open] : this.#lines;
    return this.#count === 0 ? [] : lines.slice(-this.#count);
  }
}
