import { cut, width, withoutColours } from './text.ts';

const gap = 2;
/** No column gets narrower than this, or than its heading. */
const narrowest = 8;
/** The last column is wrapped, so it only needs room for words. */
const narrowestLast = 24;

/** The columns of the terminal that shows stdout; null: stdout is not a terminal. */
function screenColumns(): number | null {
  return process.stdout.isTTY ? process.stdout.columns || 80 : null;
}

/**
 * Lines with aligned columns, two spaces apart, no trailing spaces. The caller has made the cells safe. If the terminal
 * is too narrow, the last column is wrapped, then others are cut, the widest first; the first column, with names, is
 * cut last.
 */
export function table(rows: readonly (readonly string[])[], columns?: number | null): string[] {
  return tableRows(rows, columns).flat();
}

/** Like `table`, but keeps the lines of each row together, so that a caller can print more below a row. */
export function tableRows(
  rows: readonly (readonly string[])[],
  columns: number | null = screenColumns(),
): (readonly string[])[] {
  const widths = fitted(natural(rows), rows[0] ?? [], columns ?? Number.POSITIVE_INFINITY);
  return rows.map((row) => lines(row, widths));
}

function natural(rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, width(cell));
    });
  }
  return widths;
}

function fitted(needed: readonly number[], head: readonly string[], columns: number): number[] {
  const widths = [...needed];
  const last = widths.length - 1;
  const floor = (column: number) =>
    column === last ? narrowestLast : Math.max(narrowest, column === 0 ? 0 : width(head[column] ?? ''));
  for (const group of [[last], widths.map((_, column) => column).slice(1, last), [0]]) {
    while (total(widths) > columns) {
      const widest = group
        .filter((column) => widths[column]! > floor(column))
        .sort((a, b) => widths[b]! - widths[a]!)[0];
      if (widest === undefined) break;
      widths[widest]! -= 1;
    }
  }
  return widths;
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, one) => sum + one + gap, -gap);
}

function lines(row: readonly string[], widths: readonly number[]): string[] {
  const last = widths.length - 1;
  const before = row.slice(0, last).map((cell, column) => pad(shortened(cell, widths[column]!), widths[column]!));
  const indent = ' '.repeat(total(widths) - widths[last]!);
  // A word that is too long for one line is broken. In a table of two columns it stays whole, so that it can be copied.
  const [first = '', ...more] = wrapped(row[last] ?? '', widths[last]!, last > 1);
  return [[...before, first].join(' '.repeat(gap)), ...more.map((line) => indent + line)].map((line) => line.trimEnd());
}

function shortened(cell: string, columns: number): string {
  return width(cell) <= columns ? cell : cut(withoutColours(cell), columns);
}

function wrapped(cell: string, columns: number, breaksWords: boolean): string[] {
  if (width(cell) <= columns) return [cell];
  const made: string[] = [];
  let line = '';
  for (const word of cell.split(' ').flatMap((one) => (breaksWords ? pieces(one, columns) : [one]))) {
    if (line !== '' && width(line) + 1 + width(word) > columns) made.push(line);
    else if (line !== '') {
      line = `${line} ${word}`;
      continue;
    }
    line = word;
  }
  return [...made, line];
}

function pieces(word: string, columns: number): string[] {
  const found: string[] = [''];
  for (const character of word) {
    if (width(found.at(-1)! + character) > columns) found.push('');
    found[found.length - 1] += character;
  }
  return found;
}

function pad(cell: string, columns: number): string {
  return cell + ' '.repeat(columns - width(cell));
}
