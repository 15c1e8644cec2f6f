/** Splits the output of a terminal program into text, control characters and sequences; a sequence may arrive in pieces. */
import { StringDecoder } from 'node:string_decoder';

export interface Sequences {
  print(text: string): void;
  control(character: string): void;
  /** `ESC [ prefix params intermediates final`, such as `ESC [ ? 25 h`. */
  csi(command: string, params: string): void;
  /** `ESC intermediates final`. */
  escape(command: string): void;
  /** `ESC ] text BEL`. */
  osc(text: string): void;
}

const printable = /[^\x00-\x1f\x7f]+/y;
const csi = /\x1b\[([<-?]*)([\d;:]*)([ -/]*)([@-~])/y;
const partOfCsi = /^\x1b\[[<-?]*[\d;:]*[ -/]*$/;
const osc = /\x1b\]([^\x07\x1b]*)(?:\x07|\x1b\\)/y;
/** Device control strings and similar ones, which are skipped. */
const string = /\x1b[PX^_][^\x1b]*\x1b\\/y;
const shortEscape = /\x1b([ -/]*[0-OQ-WYZ\\`-~])/y;
const maxWaiting = 64 * 1024;

export class TerminalParser {
  readonly #to: Sequences;
  readonly #decoder = new StringDecoder('utf8');
  #waiting = '';

  constructor(to: Sequences) {
    this.#to = to;
  }

  push(bytes: Buffer): void {
    const text = this.#waiting + this.#decoder.write(bytes);
    this.#waiting = '';
    let at = 0;
    while (at < text.length) {
      const next = this.#take(text, at);
      if (next === null) {
        this.#waiting = text.slice(at);
        return;
      }
      at = next;
    }
  }

  /** Handles one item; returns where the next one begins. Null: the item is not complete yet. */
  #take(text: string, at: number): number | null {
    const run = match(printable, text, at);
    if (run) {
      this.#to.print(run[0]);
      return printable.lastIndex;
    }
    if (text[at] !== '\x1b') {
      this.#to.control(text[at]!);
      return at + 1;
    }
    return this.#takeSequence(text, at);
  }

  #takeSequence(text: string, at: number): number | null {
    const found = match(csi, text, at);
    if (found) {
      this.#to.csi(`${found[1]}${found[3]}${found[4]}`, found[2]!);
      return csi.lastIndex;
    }
    const system = match(osc, text, at);
    if (system) {
      this.#to.osc(system[1]!);
      return osc.lastIndex;
    }
    if (match(string, text, at)) return string.lastIndex;
    const short = match(shortEscape, text, at);
    if (!short) return isIncomplete(text, at) ? null : at + 1;
    this.#to.escape(short[1]!);
    return shortEscape.lastIndex;
  }
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function isIncomplete(text: string, at: number): boolean {
  const rest = text.slice(at, at + maxWaiting);
  if (rest.length >= maxWaiting) return false;
  return /^\x1b[ -/]*$/.test(rest) || partOfCsi.test(rest) || /^\x1b[\]PX^_][^\x1b]*\x1b?$/.test(rest);
}
