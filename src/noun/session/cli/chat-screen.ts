/**
 * A terminal with scrolling text above rows that are redrawn: the unfinished line, and the input. Scrolled text is not
 * changed, so that the terminal's own scrolling, searching and copying work.
 */
import type { Sink } from '../../../client/output/output.ts';
import { width } from '../../../client/output/text.ts';
import type { InputView } from './input-view.ts';

const clearBelow = '\u001b[J';
const noColour = '\u001b[0m';
const colours = /\u001b\[\d+m/g;
/** Text is not wrapped more narrowly than this; a narrower terminal wraps it by itself. */
const narrowest = 10;
/** Texts that arrive within this time are drawn together. */
const drawMs = 15;

export class ChatScreen {
  readonly #sink: Sink;
  #input: InputView = { rows: [], row: 0, column: 0 };
  /** Complete rows that are not drawn yet. */
  #rows: string[] = [];
  #unfinished = '';
  /** How many redrawn rows are above the cursor. */
  #above = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  get columns(): number {
    return this.#sink.columns || 80;
  }

  /** Appends text, wrapped at words. */
  write(text: string): void {
    const lines = (this.#unfinished + text.replaceAll('\t', '    ')).split('\n');
    const wrapped = lines.map((line) => wrap(line, Math.max(narrowest, this.columns - 1)));
    const last = wrapped.pop()!;
    this.#unfinished = last.pop()!;
    this.#rows.push(...wrapped.flat(), ...last);
    this.#soon();
  }

  show(input: InputView): void {
    this.#input = input;
    this.#soon();
  }

  /** After a change of the size the terminal has wrapped the drawn rows anew: this counts them again and redraws. */
  resized(): void {
    const { columns } = this;
    const drawn = [...this.#tail(), ...this.#input.rows.slice(0, this.#input.row)];
    this.#above = drawn.reduce((sum, row) => sum + Math.max(1, Math.ceil(width(row) / columns)), 0);
    this.draw();
  }

  /** Clears the screen and redraws the input. */
  clear(): void {
    this.#sink.write('\u001b[H\u001b[2J');
    this.#above = 0;
    this.draw();
  }

  draw(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const { rows, row, column } = this.#input;
    const below = [...this.#tail(), ...rows];
    const up = rows.length - 1 - row;
    const text = this.#rows.map((line) => `${line}\n`).join('') + below.join('\n');
    const back = rows.length === 0 ? '' : `${up > 0 ? `\u001b[${up}A` : ''}\r${column > 0 ? `\u001b[${column}C` : ''}`;
    this.#sink.write(`${this.#toTop()}${text}${noColour}${back}`);
    this.#rows = [];
    this.#above = Math.max(0, below.length - 1 - Math.max(0, up));
  }

  /** Ends drawing: the text stays, the input is removed. */
  close(): void {
    this.#input = { rows: [], row: 0, column: 0 };
    if (this.#unfinished !== '') this.write('\n');
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#sink.write(`${this.#toTop()}${this.#rows.map((line) => `${line}\n`).join('')}`);
  }

  #tail(): string[] {
    return this.#unfinished === '' ? [] : [this.#unfinished];
  }

  #toTop(): string {
    return `${this.#above > 0 ? `\u001b[${this.#above}A` : ''}\r${clearBelow}`;
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => this.draw(), drawMs);
  }
}

/** Wraps a line into rows of at most `columns`; a colour continues in the next row. */
export function wrap(line: string, columns: number): string[] {
  const rows: string[] = [];
  let rest = line;
  while (width(rest) > columns) {
    const head = headOf(rest, columns);
    const colour = head.match(colours)?.at(-1) ?? '';
    rows.push(head.trimEnd());
    rest = (colour === noColour ? '' : colour) + rest.slice(head.length).replace(/^ +/, '');
  }
  return [...rows, rest];
}

/** The longest beginning that fits and ends at a space; within a word if the word is too long for that. */
function headOf(line: string, columns: number): string {
  let head = '';
  let room = columns;
  for (const [piece] of line.matchAll(/\u001b\[\d+m|[\s\S]/gu)) {
    room -= width(piece);
    if (room < 0) break;
    head += piece;
  }
  if (line[head.length] === ' ') return head;
  const word = head.lastIndexOf(' ');
  return word > columns / 3 ? head.slice(0, word + 1) : head;
}
