/** The lines of a screen: cells with a character and its style each, in a region that scrolls. */
import { plainStyle, type Style, styleText } from './style.ts';

export interface Cell {
  /** The character; empty in the second half of a wide character. */
  readonly text: string;
  readonly style: Style;
}

const blank: Cell = { text: ' ', style: plainStyle };

export class Grid {
  readonly rows: number;
  readonly columns: number;
  #lines: Cell[][];
  /** The first and the last line that scroll. */
  top = 0;
  bottom: number;

  constructor(rows: number, columns: number) {
    this.rows = rows;
    this.columns = columns;
    this.bottom = rows - 1;
    this.#lines = Array.from({ length: rows }, () => this.#blankLine(blank));
  }

  #blankLine(cell: Cell): Cell[] {
    return new Array<Cell>(this.columns).fill(cell);
  }

  put(row: number, column: number, text: string, style: Style): void {
    this.#lines[row]![column] = { text, style };
  }

  /** Adds a combining character to the character in this cell. */
  join(row: number, column: number, text: string): void {
    const before = this.#lines[row]![column]!;
    this.#lines[row]![column] = { ...before, text: `${before.text}${text}` };
  }

  erase(row: number, from: number, to: number, style: Style): void {
    this.#lines[row]!.fill(emptyIn(style), Math.max(0, from), Math.min(this.columns, to));
  }

  insert(row: number, column: number, count: number, style: Style): void {
    const line = this.#lines[row]!;
    const added = new Array<Cell>(Math.min(count, this.columns - column)).fill(emptyIn(style));
    this.#lines[row] = [...line.slice(0, column), ...added, ...line.slice(column)].slice(0, this.columns);
  }

  delete(row: number, column: number, count: number, style: Style): void {
    const line = this.#lines[row]!;
    const kept = [...line.slice(0, column), ...line.slice(column + count)];
    this.#lines[row] = [...kept, ...new Array<Cell>(this.columns - kept.length).fill(emptyIn(style))];
  }

  /** Moves the lines of the region up; returns those that left the screen at its top. */
  scrollUp(count: number, style: Style, top = this.top): string[] {
    const gone: string[] = [];
    for (let n = 0; n < Math.min(count, this.rows); n += 1) {
      if (top === 0) gone.push(lineText(this.#lines[0]!));
      this.#lines.splice(top, 1);
      this.#lines.splice(this.bottom, 0, this.#blankLine(emptyIn(style)));
    }
    return gone;
  }

  scrollDown(count: number, style: Style, top = this.top): void {
    for (let n = 0; n < Math.min(count, this.rows); n += 1) {
      this.#lines.splice(this.bottom, 1);
      this.#lines.splice(top, 0, this.#blankLine(emptyIn(style)));
    }
  }

  /** The text of each line, without styles and trailing spaces. */
  plain(): string[] {
    return this.#lines.map((line) =>
      line
        .map(({ text }) => text)
        .join('')
        .trimEnd(),
    );
  }

  /** Each line with its styles, positioned by an escape sequence. */
  painted(): string {
    return this.#lines.map((line, row) => `\x1b[${row + 1};1H${lineText(line)}`).join('');
  }
}

/** Erased cells keep the background. */
function emptyIn(style: Style): Cell {
  const background = style.get('background');
  return background === undefined ? blank : { text: ' ', style: new Map([['background', background]]) };
}

function lineText(line: readonly Cell[]): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === blank) end -= 1;
  let text = '';
  let style = plainStyle;
  for (const cell of line.slice(0, end)) {
    if (cell.style !== style) text += styleText(cell.style);
    style = cell.style;
    text += cell.text;
  }
  return style === plainStyle ? text : `${text}\x1b[0m`;
}
