/** The position and the style of the next character. */
import { plainStyle, type Style } from './style.ts';

export interface Saved {
  readonly row: number;
  readonly column: number;
  readonly style: Style;
}

export class ScreenCursor {
  readonly #rows: number;
  readonly #columns: number;
  row = 0;
  column = 0;
  style: Style = plainStyle;
  /** The last column is filled, so the next character begins a new line. */
  wraps = false;
  saved: Saved = { row: 0, column: 0, style: plainStyle };

  constructor(rows: number, columns: number) {
    this.#rows = rows;
    this.#columns = columns;
  }

  moveTo(row: number, column: number): void {
    this.row = Math.max(0, Math.min(this.#rows - 1, row));
    this.column = Math.max(0, Math.min(this.#columns - 1, column));
    this.wraps = false;
  }

  moveBy(rows: number, columns: number): void {
    this.moveTo(this.row + rows, this.column + columns);
  }

  save(): void {
    const { row, column, style } = this;
    this.saved = { row, column, style };
  }

  restore(): void {
    const { row, column, style } = this.saved;
    this.moveTo(row, column);
    this.style = style;
  }
}
