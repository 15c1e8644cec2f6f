/** Unified diffs of texts, for a person or a model to read before an edit is applied. */
import { linesOf, textOf } from './text.ts';

const context = 3;
/** Texts that differ in more lines are shown as one replacement: the time grows with the square of this. */
const maxDistance = 300;

/** Lines from `from` up to `to` of the old text are replaced by those of the new one. */
interface Hunk {
  readonly from: number;
  readonly to: number;
  readonly newFrom: number;
  readonly newTo: number;
}

/** Null as `before` or `after`: the file does not exist on that side. */
export function unifiedDiff(path: string, before: Buffer | null, after: Buffer | null): string {
  const head = `--- ${before ? `a/${path}` : '/dev/null'}\n+++ ${after ? `b/${path}` : '/dev/null'}\n`;
  const [old, now] = [before ?? Buffer.of(), after ?? Buffer.of()].map(textOf);
  if (old === null || old === undefined || now === null || now === undefined) return `${head}Binary files differ\n`;
  const [a, b] = [linesOf(old), linesOf(now)];
  return (
    head +
    grouped(changesOf(a, b))
      .map((group) => shown(a, b, group))
      .join('')
  );
}

function changesOf(a: readonly string[], b: readonly string[]): Hunk[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const [to, newTo] = [a.length - end, b.length - end];
  if (start === to && start === newTo) return [];
  const trace = traceOf(a.slice(start, to), b.slice(start, newTo));
  if (trace === null) return [{ from: start, to, newFrom: start, newTo }];
  return walk(trace, to - start, newTo - start).map((hunk) => moved(hunk, start));
}

function moved({ from, to, newFrom, newTo }: Hunk, by: number): Hunk {
  return { from: from + by, to: to + by, newFrom: newFrom + by, newTo: newTo + by };
}

type Ends = ReadonlyMap<number, number>;

/**
 * The algorithm of Myers: for each number of differences the furthest line of `a` on each diagonal. Null: there are too
 * many differences.
 */
function traceOf(a: readonly string[], b: readonly string[]): Ends[] | null {
  const trace: Ends[] = [];
  let ends = new Map<number, number>([[1, 0]]);
  for (let distance = 0; distance <= maxDistance; distance++) {
    trace.push(ends);
    const next = new Map(ends);
    for (let k = -distance; k <= distance; k += 2) {
      let x = isDown(ends, k, distance) ? ends.get(k + 1)! : ends.get(k - 1)! + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      next.set(k, x);
      if (x >= a.length && x - k >= b.length) return trace;
    }
    ends = next;
  }
  return null;
}

function isDown(ends: Ends, k: number, distance: number): boolean {
  return k === -distance || (k !== distance && (ends.get(k - 1) ?? -1) < (ends.get(k + 1) ?? -1));
}

/** Follows the trace back from the end of both texts; neighbouring differences become one hunk. */
function walk(trace: readonly Ends[], fromX: number, fromY: number): Hunk[] {
  const hunks: Hunk[] = [];
  let [x, y] = [fromX, fromY];
  for (let distance = trace.length - 1; distance > 0; distance--) {
    const ends = trace[distance]!;
    const k = x - y;
    const down = isDown(ends, k, distance);
    const beforeX = ends.get(down ? k + 1 : k - 1)!;
    const beforeY = beforeX - (down ? k + 1 : k - 1);
    push(hunks, {
      from: beforeX,
      to: down ? beforeX : beforeX + 1,
      newFrom: beforeY,
      newTo: down ? beforeY + 1 : beforeY,
    });
    [x, y] = [beforeX, beforeY];
  }
  return hunks.reverse();
}

/** Adds a hunk to `hunks`, which are in reverse order. */
function push(hunks: Hunk[], hunk: Hunk): void {
  const last = hunks.at(-1);
  if (last !== undefined && last.from === hunk.to && last.newFrom === hunk.newTo) {
    hunks[hunks.length - 1] = { ...hunk, to: last.to, newTo: last.newTo };
  } else hunks.push(hunk);
}

/** Hunks whose context lines would touch are shown together. */
function grouped(hunks: readonly Hunk[]): Hunk[][] {
  const groups: Hunk[][] = [];
  for (const hunk of hunks) {
    const last = groups.at(-1);
    if (last !== undefined && hunk.from - last.at(-1)!.to <= 2 * context) last.push(hunk);
    else groups.push([hunk]);
  }
  return groups;
}

function shown(a: readonly string[], b: readonly string[], group: readonly Hunk[]): string {
  const [first, last] = [group[0]!, group.at(-1)!];
  const from = Math.max(0, first.from - context);
  const to = Math.min(a.length, last.to + context);
  const newFrom = first.newFrom - (first.from - from);
  const newTo = last.newTo + (to - last.to);
  const lines: string[] = [];
  let at = from;
  for (const hunk of group) {
    lines.push(...marked(' ', a.slice(at, hunk.from)), ...marked('-', a.slice(hunk.from, hunk.to)));
    lines.push(...marked('+', b.slice(hunk.newFrom, hunk.newTo)));
    at = hunk.to;
  }
  lines.push(...marked(' ', a.slice(at, to)));
  return `@@ -${span(from, to)} +${span(newFrom, newTo)} @@\n${lines.join('')}`;
}

function span(from: number, to: number): string {
  return to === from ? `${from},0` : `${from + 1},${to - from}`;
}

function marked(sign: string, lines: readonly string[]): string[] {
  return lines.map((line) => `${sign}${line}${line.endsWith('\n') ? '' : '\n\\ No newline at end of file\n'}`);
}
