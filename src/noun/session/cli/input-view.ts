/** The typed text as rows of the screen, with the position of the cursor. */
import { plain, width } from '../../../client/output/text.ts';

export interface InputView {
  readonly rows: readonly string[];
  readonly row: number;
  readonly column: number;
}

/** A longer text is shown only around the cursor. */
const maxRows = 8;
const indent = 2;

/** `mark` is two columns wide. */
export function viewOf(text: string, cursor: number, mark: string, columns: number): InputView {
  const room = Math.max(4, columns - indent - 1);
  const rows = [''];
  let [row, column] = [0, 0];
  for (const [index, character] of [...text, ''].entries()) {
    if (index === cursor) [row, column] = [rows.length - 1, width(rows.at(-1)!)];
    const shown = character === '\t' ? '  ' : plain(character);
    if (character === '\n') rows.push('');
    else if (width(rows.at(-1)! + shown) > room) rows.push(shown);
    else rows[rows.length - 1] += shown;
  }
  const first = Math.min(Math.max(0, row - maxRows + 1), Math.max(0, rows.length - maxRows));
  const shown = rows.slice(first, first + maxRows);
  return {
    rows: shown.map((line, index) => `${index ? '  ' : mark}${line}`),
    row: row - first,
    column: column + indent,
  };
}
