/**
 * Messages as lines of bytes. A line has at most 64 KiB, and no more than that is buffered.
 *
 * Reading never throws: a line that is not a message is reported as a flaw, and the next line is read normally. Chunks
 * may end anywhere, even in the middle of a character.
 */
import { ShapeError } from '../../../model/shape.ts';
import { checkMessage, type SwarmMessage } from './message.ts';

export const maxLineBytes = 64 * 1024;

export interface Flaw {
  readonly kind: 'too_long' | 'not_utf8' | 'not_json' | 'not_a_message' | 'cut_off';
  /** What is wrong and where, without any of the content. */
  readonly reason: string;
}

export type Read = { readonly message: SwarmMessage } | { readonly flaw: Flaw };

/** The line of a message, newline included. A completion with too many errors says how many were left out. */
export function encodeMessage(message: SwarmMessage): Buffer {
  const checked = checkMessage(message);
  const line = lineOf(checked);
  if (line.length <= maxLineBytes + 1) return line;
  if (checked.type !== 'completion') throw new ShapeError([], `is longer than ${maxLineBytes} bytes`);
  return lineOf(withFewerErrors(checked));
}

function lineOf(message: SwarmMessage): Buffer {
  return Buffer.from(`${JSON.stringify(message)}\n`);
}

function withFewerErrors(message: SwarmMessage & { type: 'completion' }): SwarmMessage {
  const { errors } = message.payload;
  for (let kept = errors.length - 2; ; kept--) {
    const shorter = [...errors.slice(0, kept), `and ${errors.length - kept} more`];
    const fitting = { ...message, payload: { ...message.payload, errors: shorter } };
    if (lineOf(fitting).length <= maxLineBytes + 1) return fitting;
  }
}

const newline = 0x0a;

export class MessageReader {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  readonly #line = Buffer.alloc(maxLineBytes);
  #bytes = 0;

  /** The messages that end in this chunk. Iterate over all of them: the rest of the chunk is buffered only then. */
  *push(chunk: Uint8Array): Generator<Read> {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(newline, start);
      this.#keep(chunk.subarray(start, end === -1 ? chunk.length : end));
      if (end === -1) return;
      yield* this.#take();
      start = end + 1;
    }
  }

  /** The rest at the end of the input. */
  *end(): Generator<Read> {
    for (const read of this.#take()) {
      yield 'flaw' in read && read.flaw.kind === 'not_json' ? flaw('cut_off', 'the last line is not whole') : read;
    }
  }

  #keep(part: Uint8Array): void {
    if (this.#bytes + part.length <= maxLineBytes) this.#line.set(part, this.#bytes);
    this.#bytes += part.length;
  }

  *#take(): Generator<Read> {
    const bytes = this.#bytes;
    this.#bytes = 0;
    if (bytes > maxLineBytes) yield flaw('too_long', `a line of ${bytes} bytes; ${maxLineBytes} is the most`);
    else if (bytes > 0) yield* this.#parse(this.#line.subarray(0, bytes));
  }

  *#parse(line: Uint8Array): Generator<Read> {
    let text: string;
    try {
      text = this.#decoder.decode(line);
    } catch {
      yield flaw('not_utf8', 'a line that is not UTF-8');
      return;
    }
    if (text.trim() !== '') yield parse(text);
  }
}

function parse(text: string): Read {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return flaw('not_json', 'a line that is not JSON');
  }
  try {
    return { message: checkMessage(value) };
  } catch (error) {
    if (error instanceof ShapeError) return flaw('not_a_message', error.message);
    throw error;
  }
}

function flaw(kind: Flaw['kind'], reason: string): Read {
  return { flaw: { kind, reason } };
}
