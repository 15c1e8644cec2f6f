/** A summary of changes: each path, how many lines changed, and a graph. */

import { counted } from '../../../client/output/count.ts';
import type { Output } from '../../../client/output/output.ts';
import { pathText } from '../../../client/output/path-text.ts';
import { cutStart, plain, width } from '../../../client/output/text.ts';
import type { ChangesView, ChangeView } from '../api.ts';
import { ignoredText } from '../model/change.ts';

const elsewhereGraph = 40;
const leastName = 12;
const leastGraph = 10;
/** A space, ` | ` and a space. */
const separators = 5;

interface Row {
  readonly name: string;
  readonly insertions: number;
  readonly deletions: number;
  /** The number of changed lines; empty if lines cannot be counted. */
  readonly amount: string;
  /** What a number of lines does not show: types, modes, links and marks. */
  readonly words: string;
}

interface Room {
  readonly name: number;
  readonly amount: number;
  readonly graph: number;
  /** Lines of the largest change, which fills the graph. */
  readonly peak: number;
}

/** Like `git diff --stat`, fitted to the columns; null: names are not shortened. */
export function diffStat(
  { changes, hiddenInGit, ignored }: ChangesView,
  out: Output,
  columns: number | null,
): string[] {
  const rows = changes.map(rowOf);
  const room = roomFor(rows, columns);
  const lines = rows.flatMap((row, index) => [line(row, room, out), ...noteLines(changes[index]!)]);
  return [...lines, totals(changes), ...ignoredLines(ignored).map((text) => ` ${text}`), ...hidden(hiddenInGit)];
}

function noteLines({ note }: ChangeView): string[] {
  return note === null ? [] : [`    ${plain(note)}`];
}

/** Like `git diff --name-status`. */
export function nameStatus(changes: readonly ChangeView[]): string[] {
  return changes.map((change) =>
    [change.status, ...(change.from === undefined ? [] : [pathText({ path: change.from })]), pathText(change)].join(
      '\t',
    ),
  );
}

/** Marks for what the owner should check: gates, and files that the project changed too. */
export function marksOf({ gates, baseKnown }: Pick<ChangeView, 'gates' | 'baseKnown'>): string[] {
  return [...(gates.length === 0 ? [] : [`[${gates.join(', ')}]`]), ...(baseKnown ? [] : ['[project changed too]'])];
}

/** Counts the changes inside .git, which a diff does not show. */
export function hidden(hiddenInGit: number): string[] {
  if (hiddenInGit === 0) return [];
  const differ = hiddenInGit === 1 ? 'path differs' : 'paths differ';
  return [` ${hiddenInGit} more ${differ} inside .git; commits travel by themselves`];
}

export function ignoredLines(ignored: ChangesView['ignored']): string[] {
  if (ignored.files === 0 && !ignored.more) return [];
  const places = ignored.places.map((path) => pathText({ path }));
  return [`${ignoredText(ignored, places)} left out; --ignored includes them`];
}

function rowOf(change: ChangeView): Row {
  const { insertions, deletions, from } = change;
  const name = pathText(change);
  return {
    name: from === undefined ? name : `${pathText({ path: from })} => ${name}`,
    insertions: insertions ?? 0,
    deletions: deletions ?? 0,
    amount: insertions === null || deletions === null ? '' : String(insertions + deletions),
    words: [...kindWords(change), ...modeWords(change), ...marksOf(change)].join(' '),
  };
}

function kindWords({ oldType, newType, oldSize, newSize, insertions }: ChangeView): string[] {
  if (oldType !== null && newType !== null && oldType !== newType) return [`${oldType} -> ${newType}`];
  if (insertions !== null) return [];
  const type = newType ?? oldType;
  return type === 'file' ? [`Bin ${oldSize ?? 0} -> ${newSize ?? 0} bytes`] : [type ?? 'unknown'];
}

function modeWords({ oldType, newType, oldMode, newMode }: ChangeView): string[] {
  if (oldType !== newType || oldMode === null || newMode === null || oldMode === newMode) return [];
  return [`mode ${oldMode.toString(8)} -> ${newMode.toString(8)}`];
}

function roomFor(rows: readonly Row[], columns: number | null): Room {
  const name = most(rows.map((row) => width(row.name)));
  const amount = most(rows.map((row) => row.amount.length));
  const peak = most(rows.map(linesOf));
  if (columns === null) return { name, amount, peak, graph: elsewhereGraph };
  const besideGraph = most(
    rows.filter((row) => linesOf(row) > 0 && row.words !== '').map((row) => width(row.words) + 1),
  );
  const needed = most([Math.min(leastGraph, peak) + besideGraph, ...rows.map((row) => width(row.words))]);
  const rest = columns - separators - amount;
  const kept = Math.min(name, Math.max(leastName, rest - needed));
  return { name: kept, amount, peak, graph: Math.max(1, rest - kept - besideGraph) };
}

function line(row: Row, room: Room, out: Output): string {
  const name = cutStart(row.name, room.name);
  const cells = [
    `${name}${' '.repeat(room.name - width(name))}`,
    '|',
    row.amount.padStart(room.amount),
    graph(row, room, out),
    row.words,
  ];
  return ` ${cells.filter((cell) => cell !== '').join(' ')}`.trimEnd();
}

/** Scaled so that even a single insertion or deletion gets a mark. */
function graph(row: Row, { graph: columns, peak }: Room, out: Output): string {
  const { insertions, deletions } = row;
  if (peak <= columns) return bars(insertions, deletions, out);
  const scaled = (lines: number) => (lines === 0 ? 0 : 1 + Math.floor((lines * (columns - 1)) / peak));
  const both = insertions > 0 && deletions > 0;
  const whole = Math.max(scaled(linesOf(row)), both ? 2 : 0);
  const less = scaled(Math.min(insertions, deletions));
  return insertions < deletions ? bars(less, whole - less, out) : bars(whole - less, less, out);
}

function bars(plus: number, minus: number, out: Output): string {
  const insertions = plus === 0 ? '' : out.paint('green', '+'.repeat(plus));
  return insertions + (minus === 0 ? '' : out.paint('red', '-'.repeat(minus)));
}

function totals(changes: readonly ChangeView[]): string {
  const insertions = changes.reduce((sum, change) => sum + (change.insertions ?? 0), 0);
  const deletions = changes.reduce((sum, change) => sum + (change.deletions ?? 0), 0);
  const parts = [
    `${counted(changes.length, 'file')} changed`,
    ...(insertions === 0 ? [] : [`${counted(insertions, 'insertion')}(+)`]),
    ...(deletions === 0 ? [] : [`${counted(deletions, 'deletion')}(-)`]),
  ];
  return ` ${parts.join(', ')}`;
}

function linesOf({ insertions, deletions }: Row): number {
  return insertions + deletions;
}

function most(numbers: readonly number[]): number {
  return numbers.reduce((largest, number) => Math.max(largest, number), 0);
}
