/**
 * JSON whose author may be hostile. Parsing takes long for many small values, a second for eight megabytes of brackets, and blocks the
 * event loop meanwhile; long strings cost little. So values are counted as the bytes arrive, and text with too many is refused.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Fault } from '../../model/fault.ts';
import { firstBytes } from '../process/collect.ts';

/** This many values take about 20 ms to parse. */
const maxTokens = 100_000;

/** To join, decode and parse this many bytes takes about 5 ms. */
const largeBytes = 1024 ** 2;

/** After this many bytes of a string its end is searched, which costs as much as looking at about so many. */
const searchedAfter = 32;

const [newline, quote, comma, bracket, backslash, brace] = [0x0a, 0x22, 0x2c, 0x5b, 0x5c, 0x7b];
const none = -1;

/** Throws if the bytes are not JSON, or have too many values to be parsed at once. */
export function parseBounded(bytes: Buffer): unknown {
  const tokens = new TokenCount('text');
  tokens.push(bytes);
  tokens.check();
  return JSON.parse(bytes.toString('utf8'));
}

/**
 * The text of a stream of JSON, ready to be parsed; null: it has more bytes than allowed. Throws if it has too many
 * values to be parsed at once. Other work of the event loop runs between the steps of large text: to join its bytes, to
 * decode them, and to parse it.
 */
export async function readJsonText(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
  maxValues = maxTokens,
): Promise<string | null> {
  const tokens = new TokenCount('text', maxValues);
  const bytes = await firstBytes(stream, maxBytes + 1, (chunk) => tokens.push(chunk));
  if (bytes.length > maxBytes) return null;
  tokens.check();
  if (bytes.length < largeBytes) return bytes.toString('utf8');
  await nextTurn();
  const text = bytes.toString('utf8');
  await nextTurn();
  return text;
}

/**
 * Counts strings, commas and opening brackets of one text, or of each line. Each of these takes a byte, so texts and
 * lines with no more bytes than the limit, which most are, are not scanned.
 */
export class TokenCount {
  readonly #end: number;
  readonly #max: number;
  #count = 0;
  #isInString = false;
  #isEscaped = false;
  /** The beginning of a text or line, not scanned yet: it has no more bytes than the limit of values. */
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #isCounting = false;

  constructor(what: 'text' | 'lines', max = maxTokens) {
    this.#max = max;
    this.#end = what === 'lines' ? newline : none;
  }

  push(bytes: Uint8Array): void {
    if (!this.#isCounting && this.#heldBytes + bytes.length <= this.#max) {
      this.#hold(bytes);
      return;
    }
    for (const held of this.#held) this.#look(held);
    this.#look(bytes);
    this.#held = [];
    this.#heldBytes = 0;
    this.#isCounting = bytes.at(-1) !== this.#end;
  }

  #hold(bytes: Uint8Array): void {
    const end = this.#end === none ? -1 : bytes.lastIndexOf(this.#end);
    if (end >= 0) {
      this.#held = [];
      this.#heldBytes = 0;
    }
    const rest = bytes.subarray(end + 1);
    if (rest.length === 0) return;
    this.#held.push(rest);
    this.#heldBytes += rest.length;
  }

  #look(bytes: Uint8Array): void {
    const [end, max] = [this.#end, this.#max];
    const start = this.#isEscaped && bytes[0] !== end ? 1 : 0;
    const inString = new NextOf(bytes, [quote, backslash, ...(end === none ? [] : [end])]);
    let [count, isInString, at, plain] = [this.#count, this.#isInString, start, 0];
    for (; at < bytes.length && count <= max; at += 1) {
      if (plain > searchedAfter) {
        plain = 0;
        at = inString.from(at);
        if (at === bytes.length) break;
      }
      const byte = bytes[at];
      if (byte === end) {
        count = 0;
        isInString = false;
        plain = 0;
      } else if (isInString) {
        plain += 1;
        if (byte === quote) {
          isInString = false;
          plain = 0;
        } else if (byte === backslash) {
          plain = 0;
          // The end of a line ends its strings, too.
          if (bytes[at + 1] !== end) at += 1;
        }
      } else if (byte === quote) {
        isInString = true;
        count += 1;
      } else if (byte === comma || byte === bracket || byte === brace) count += 1;
    }
    this.#count = count;
    this.#isInString = isInString;
    this.#isEscaped = at > bytes.length;
  }

  /** Null: the text can be parsed. */
  get refusal(): string | null {
    return this.#count > this.#max ? `the JSON has more than ${this.#max} values` : null;
  }

  /** Throws if the text has too many values to be parsed at once. */
  check(): void {
    if (this.refusal !== null) throw new Fault('invalid', this.refusal);
  }
}

/** The next position of any of a few values; each is searched once, however often positions are asked for. */
class NextOf {
  readonly #bytes: Uint8Array;
  readonly #values: readonly number[];
  readonly #found: number[];

  constructor(bytes: Uint8Array, values: readonly number[]) {
    this.#bytes = bytes;
    this.#values = values;
    this.#found = values.map(() => -1);
  }

  /** The length of the bytes if there is none. Positions must not decrease. */
  from(at: number): number {
    let next = this.#bytes.length;
    for (let index = 0; index < this.#values.length; index += 1) {
      if (this.#found[index]! < at) {
        const found = this.#bytes.indexOf(this.#values[index]!, at);
        this.#found[index] = found < 0 ? this.#bytes.length : found;
      }
      next = Math.min(next, this.#found[index]!);
    }
    return next;
  }
}
