/**
 * The screen that the output of a terminal program draws. A client that attaches later reads that output and writes the
 * current screen to its own terminal.
 *
 * Queries of programs to their terminal are not repeated, because the program would get the answer as typed keys.
 */
import { columnsOf } from '../../../../../client/output/text.ts';
import { Grid } from './grid.ts';
import { Modes } from './modes.ts';
import { type Saved, ScreenCursor } from './screen-cursor.ts';
import { plainStyle, restyled, type Style, styleText } from './style.ts';
import { type Sequences, TerminalParser } from './terminal-parser.ts';

/** Lines above the screen that are kept, so that one can scroll back. */
const maxHistory = 1000;
const tabColumns = 8;

export class Screen implements Sequences {
  readonly rows: number;
  readonly columns: number;
  readonly #parser = new TerminalParser(this);
  readonly #modes = new Modes();
  readonly #cursor: ScreenCursor;
  readonly #main: Grid;
  #grid: Grid;
  #history: string[] = [];
  #last = ' ';

  constructor(rows: number, columns: number) {
    this.rows = rows;
    this.columns = columns;
    this.#cursor = new ScreenCursor(rows, columns);
    this.#main = new Grid(rows, columns);
    this.#grid = this.#main;
  }

  push(bytes: Buffer): void {
    this.#parser.push(bytes);
  }

  /** The characters of each line. */
  get lines(): string[] {
    return this.#grid.plain();
  }

  /** The output that makes another terminal of this size look the same; its present text scrolls away first. */
  painted(): string {
    const earlier = this.#history
      .slice(-maxHistory)
      .map((line) => `${line}\r\n`)
      .join('');
    const other = this.#grid === this.#main ? '' : `${placeText(this.#cursor.saved)}\x1b[?1049h${this.#grid.painted()}`;
    const { top, bottom } = this.#grid;
    const region = top === 0 && bottom === this.rows - 1 ? '' : `\x1b[${top + 1};${bottom + 1}r`;
    const clear = `${earlier}${'\r\n'.repeat(this.rows)}\x1b[H`;
    const place = `${region}${placeText(this.#cursor)}`;
    return `\x1b[0m\r${clear}${this.#main.painted()}${other}${this.#modes.text()}${place}`;
  }

  print(text: string): void {
    for (const character of text) this.#put(character);
  }

  #put(character: string): void {
    const cursor = this.#cursor;
    const wide = character < '\x7f' ? 1 : columnsOf(character);
    if (wide === 0) {
      this.#join(character);
      return;
    }
    if (cursor.wraps || cursor.column + wide > this.columns) {
      this.#lineFeed();
      cursor.moveTo(cursor.row, 0);
    }
    this.#grid.put(cursor.row, cursor.column, character, cursor.style);
    if (wide === 2) this.#grid.put(cursor.row, cursor.column + 1, '', cursor.style);
    this.#last = character;
    if (cursor.column + wide < this.columns) cursor.column += wide;
    else {
      cursor.column = this.columns - 1;
      cursor.wraps = true;
    }
  }

  #join(character: string): void {
    const { row, column, wraps } = this.#cursor;
    this.#grid.join(row, Math.max(0, column - (wraps ? 0 : 1)), character);
  }

  #lineFeed(): void {
    const { row, column } = this.#cursor;
    if (row === this.#grid.bottom) this.#scrollUp(1);
    else this.#cursor.moveTo(row + 1, column);
  }

  #scrollUp(count: number): void {
    const gone = this.#grid.scrollUp(count, this.#cursor.style);
    this.#cursor.wraps = false;
    if (this.#grid !== this.#main) return;
    this.#history.push(...gone);
    if (this.#history.length > 2 * maxHistory) this.#history = this.#history.slice(-maxHistory);
  }

  #reverseFeed(): void {
    const { row, column } = this.#cursor;
    if (row === this.#grid.top) this.#grid.scrollDown(1, this.#cursor.style);
    else this.#cursor.moveTo(row - 1, column);
  }

  control(character: string): void {
    const { row, column } = this.#cursor;
    if (character === '\r') this.#cursor.moveTo(row, 0);
    if (character === '\b') this.#cursor.moveTo(row, column - 1);
    if (character === '\t') this.#cursor.moveTo(row, (Math.floor(column / tabColumns) + 1) * tabColumns);
    if (['\n', '\v', '\f'].includes(character)) this.#lineFeed();
  }

  escape(command: string): void {
    if (command === '7') this.#cursor.save();
    if (command === '8') this.#cursor.restore();
    if (command === 'D' || command === 'E') this.#lineFeed();
    if (command === 'E') this.#cursor.moveTo(this.#cursor.row, 0);
    if (command === 'M') this.#reverseFeed();
    if (command === 'c') this.#reset();
  }

  #reset(): void {
    this.#cursor.moveTo(0, 0);
    this.#cursor.style = plainStyle;
    this.#eraseScreen(2);
  }

  osc(text: string): void {
    const [, title] = /^[02];(.*)$/s.exec(text) ?? [];
    if (title !== undefined) this.#modes.setTitle(title);
  }

  csi(command: string, params: string): void {
    if (command === '?h' || command === '?l') this.#setModes(params, command === '?h');
    else if (command === '>u') this.#modes.pushKeyboard(params);
    else if (command === '<u') this.#modes.popKeyboard(params);
    else if (command === '>m') this.#modes.setOtherKeys(params);
    else if (command === 'm') this.#cursor.style = restyled(this.#cursor.style, params);
    else this.#act(command, params.split(';').map(Number));
  }

  #setModes(params: string, on: boolean): void {
    this.#modes.set(params, on);
    for (const word of params.split(';'))
      if (['47', '1047', '1049'].includes(word)) this.#switchTo(on, word === '1049');
  }

  /** Switches between the main and the alternate screen, which is blank at first. */
  #switchTo(other: boolean, saves: boolean): void {
    if (other === (this.#grid !== this.#main)) return;
    if (other && saves) this.#cursor.save();
    this.#grid = other ? new Grid(this.rows, this.columns) : this.#main;
    if (!other && saves) this.#cursor.restore();
  }

  /** The actions of sequences. `first` is the first number; `count` and `other` are both numbers, but at least 1. */
  static readonly #actions: Readonly<
    Record<string, (on: Screen, first: number, count: number, other: number) => void>
  > = {
    A: (on, _, count) => on.#cursor.moveBy(-count, 0),
    B: (on, _, count) => on.#cursor.moveBy(count, 0),
    C: (on, _, count) => on.#cursor.moveBy(0, count),
    D: (on, _, count) => on.#cursor.moveBy(0, -count),
    E: (on, _, count) => on.#cursor.moveTo(on.#cursor.row + count, 0),
    F: (on, _, count) => on.#cursor.moveTo(on.#cursor.row - count, 0),
    G: (on, _, count) => on.#cursor.moveTo(on.#cursor.row, count - 1),
    '`': (on, _, count) => on.#cursor.moveTo(on.#cursor.row, count - 1),
    a: (on, _, count) => on.#cursor.moveBy(0, count),
    d: (on, _, count) => on.#cursor.moveTo(count - 1, on.#cursor.column),
    e: (on, _, count) => on.#cursor.moveBy(count, 0),
    H: (on, _, count, other) => on.#cursor.moveTo(count - 1, other - 1),
    f: (on, _, count, other) => on.#cursor.moveTo(count - 1, other - 1),
    J: (on, first) => on.#eraseScreen(first),
    K: (on, first) => on.#eraseLine(on.#cursor.row, first),
    L: (on, _, count) => on.#inRegion((row, style) => on.#grid.scrollDown(count, style, row)),
    M: (on, _, count) => on.#inRegion((row, style) => on.#grid.scrollUp(count, style, row)),
    P: (on, _, count) => on.#grid.delete(on.#cursor.row, on.#cursor.column, count, on.#cursor.style),
    '@': (on, _, count) => on.#grid.insert(on.#cursor.row, on.#cursor.column, count, on.#cursor.style),
    X: (on, _, count) => on.#grid.erase(on.#cursor.row, on.#cursor.column, on.#cursor.column + count, on.#cursor.style),
    S: (on, _, count) => on.#scrollUp(count),
    T: (on, _, count) => on.#grid.scrollDown(count, on.#cursor.style),
    b: (on, _, count) => on.print(on.#last.repeat(Math.min(count, on.columns))),
    s: (on) => on.#cursor.save(),
    u: (on) => on.#cursor.restore(),
    '!p': (on) => on.#setRegion(0, on.rows - 1),
  };

  #act(command: string, [first = 0, second = 0]: number[]): void {
    if (command === 'r') this.#setRegion((first || 1) - 1, (second || this.rows) - 1);
    else Screen.#actions[command]?.(this, first, first || 1, second || 1);
  }

  #inRegion(act: (row: number, style: Style) => void): void {
    const { row, style } = this.#cursor;
    if (row >= this.#grid.top && row <= this.#grid.bottom) act(row, style);
  }

  #setRegion(top: number, bottom: number): void {
    this.#grid.top = Math.max(0, Math.min(top, this.rows - 1));
    this.#grid.bottom = Math.max(this.#grid.top, Math.min(bottom, this.rows - 1));
    this.#cursor.moveTo(0, 0);
  }

  #eraseScreen(part: number): void {
    const { row } = this.#cursor;
    if (part === 3) this.#history = [];
    for (let line = 0; line < this.rows; line += 1) {
      if (part === 2 || (part === 0 && line > row) || (part === 1 && line < row)) this.#eraseLine(line, 2);
    }
    if (part < 2) this.#eraseLine(row, part);
  }

  #eraseLine(row: number, part: number): void {
    const { column, style } = this.#cursor;
    const [from, to] = part === 0 ? [column, this.columns] : part === 1 ? [0, column + 1] : [0, this.columns];
    this.#grid.erase(row, from, to, style);
  }
}

function placeText({ row, column, style }: Saved): string {
  return `\x1b[${row + 1};${column + 1}H${styleText(style)}`;
}
