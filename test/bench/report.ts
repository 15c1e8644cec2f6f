/** Results against their targets: as data and as a table. */
import { table } from '../../src/client/output/table.ts';
import type { Summary } from './sample.ts';

/** A target of DESIGN's table of speeds, or a comparison without a target. */
export interface Check {
  /** The program to compare with; null: the value itself has a limit. */
  readonly peer: string | null;
  readonly value: number;
  /** Null: for information. */
  readonly target: number | null;
  readonly ok: boolean;
}

export interface Row {
  readonly what: string;
  readonly unit: 'ms' | 'MB';
  /** Null: could not be measured, and `note` says why. */
  readonly summary: Summary | null;
  readonly checks: readonly Check[];
  readonly note?: string;
}

export const row = (what: string, summary: Row['summary'], checks: Row['checks'] = []): Row => ({
  what,
  unit: 'ms',
  summary,
  checks,
});

export const missing = (what: string, note = 'not installed'): Row => ({ ...row(what, null), note });

export function atMost(summary: Summary, target: number): Check {
  return { peer: null, value: summary.p50, target, ok: summary.p50 <= target };
}

/** Medians compared; no check without the peer. */
export function timesPeer(
  summary: Summary,
  peer: string,
  other: Summary | null,
  target: number | null = null,
): Check[] {
  if (other === null) return [];
  const value = summary.p50 / other.p50;
  return [{ peer, value, target, ok: target === null || value <= target }];
}

export function render(rows: readonly Row[]): string {
  return table([
    ['WHAT', '  N', ...['P50', 'P95', 'MIN'].map(right), 'RATIO', 'TARGET', ''],
    ...rows.flatMap(linesOf),
  ]).join('\n');
}

function linesOf(row: Row): string[][] {
  const { what, summary, checks, note = '' } = row;
  if (summary === null) return [[`${what}: ${note}`, '', '', '', '', '', '', '']];
  const figures = [
    String(summary.count),
    ...[summary.p50, summary.p95, summary.min].map((value) => show(value, row.unit)),
  ];
  const verdicts = checks.map((check) => verdict(check, row.unit));
  const [first = ['', '', note], ...rest] = verdicts;
  return [[what, ...figures, ...first], ...rest.map((cells) => ['', '', '', '', '', ...cells])];
}

function verdict({ peer, value, target, ok }: Check, unit: string): string[] {
  const says = ok ? 'ok' : 'MISS';
  const times = `${value < 0.1 ? value.toFixed(3) : value.toFixed(2)}× ${peer}`;
  if (target === null) return [times, '', ''];
  if (peer === null) return ['', `≤ ${target} ${unit}`, says];
  return [times, `≤ ${Number(target.toFixed(2))}×`, says];
}

function show(value: number, unit: string): string {
  return right(`${figure(value)} ${unit}`);
}

function figure(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size < 1 ? 3 : size < 100 ? 1 : 0);
}

function right(cell: string): string {
  return cell.padStart(8);
}
