import { width } from './text.ts';

/** Lines with aligned columns, two spaces apart, no trailing spaces. Cells are safe text already. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, width(cell));
    });
  }
  return rows.map((row) =>
    row
      .map((cell, column) => pad(cell, widths[column]!))
      .join('  ')
      .trimEnd(),
  );
}

function pad(cell: string, columns: number): string {
  return cell + ' '.repeat(columns - width(cell));
}
