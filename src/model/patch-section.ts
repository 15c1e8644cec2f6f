/**
 * The section of one file in a unified diff, as bytes in latin1. A block is a run of lines that differ, without context: the
 * smallest part that can be taken alone. Blocks are numbered through the file.
 */

export interface Section {
  /** The lines before the first hunk. */
  readonly head: string;
  readonly hunks: readonly Hunk[];
}

export interface Hunk {
  /** After the second `@@`: the function that git found. */
  readonly place: string;
  readonly lines: readonly HunkLine[];
  /** Of the first line, from 0. */
  readonly oldStart: number;
  readonly newStart: number;
}

export interface HunkLine {
  readonly sign: ' ' | '+' | '-';
  /** With its end of line, which the last one may not have. */
  readonly text: string;
  /** Null for a line that does not differ. */
  readonly block: number | null;
}

const hunkHead = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@([^\n]*)\n?$/;

/** Lines of content begin with a sign, so only the head of a hunk begins with `@@`. */
export function parseSection(section: string): Section {
  const [head = '', ...parts] = section.split(/(?<=\n)(?=@@ )/);
  let blocks = 0;
  const hunks = parts.map((part) => {
    const hunk = parseHunk(part, blocks);
    blocks = hunk.lines.reduce((most, { block }) => Math.max(most, block === null ? 0 : block + 1), blocks);
    return hunk;
  });
  return { head, hunks };
}

function parseHunk(text: string, firstBlock: number): Hunk {
  const [head = '', ...lines] = text.split(/(?<=\n)/);
  const [, oldStart, oldCount = '1', newStart, newCount = '1', place = ''] = hunkHead.exec(head) ?? [];
  return {
    place,
    lines: numbered(joined(lines), firstBlock),
    oldStart: positionOf(oldStart, oldCount),
    newStart: positionOf(newStart, newCount),
  };
}

/** Git names the line before an empty range. */
function positionOf(start: string | undefined, count: string): number {
  return Number(start) - (count === '0' ? 0 : 1);
}

/** `\ No newline at end of file` belongs to the line before it. */
function joined(lines: readonly string[]): string[] {
  const found: string[] = [];
  for (const line of lines)
    if (line.startsWith('\\')) found.push(found.pop()!.replace(/\n$/, ''));
    else found.push(line);
  return found;
}

function numbered(lines: readonly string[], firstBlock: number): HunkLine[] {
  let block = firstBlock - 1;
  let inside = false;
  return lines.map((line) => {
    const sign = line[0] as HunkLine['sign'];
    if (sign !== ' ' && !inside) block += 1;
    inside = sign !== ' ';
    return { sign, text: line.slice(1), block: inside ? block : null };
  });
}

export function blocksOf({ lines }: Pick<Hunk, 'lines'>): number[] {
  return [...new Set(lines.flatMap(({ block }) => (block === null ? [] : [block])))];
}

/** The old text with these blocks taken, and the others left as they were. */
export function withBlocks(old: string, { hunks }: Section, chosen: ReadonlySet<number>): string {
  const lines = old.split(/(?<=\n)/);
  const result: string[] = [];
  let next = 0;
  for (const hunk of hunks) {
    result.push(...lines.slice(next, hunk.oldStart));
    next = hunk.oldStart;
    for (const { sign, text, block } of hunk.lines) {
      if (sign !== '+') next += 1;
      const isTaken = block !== null && chosen.has(block);
      if (sign === ' ' || isTaken === (sign === '+')) result.push(text);
    }
  }
  return [...result, ...lines.slice(next)].join('');
}

/** One hunk for each block, with the lines around it that do not differ. */
export function splitHunk(hunk: Hunk): Hunk[] {
  const blocks = blocksOf(hunk);
  if (blocks.length < 2) return [hunk];
  return blocks.map((block) => {
    const [from, to] = rangeAround(hunk.lines, block);
    const before = hunk.lines.slice(0, from);
    return {
      place: hunk.place,
      lines: hunk.lines.slice(from, to),
      oldStart: hunk.oldStart + count(before, '+'),
      newStart: hunk.newStart + count(before, '-'),
    };
  });
}

function rangeAround(lines: readonly HunkLine[], block: number): [from: number, to: number] {
  let from = lines.findIndex((line) => line.block === block);
  let to = lines.findLastIndex((line) => line.block === block) + 1;
  while (from > 0 && lines[from - 1]!.block === null) from -= 1;
  while (to < lines.length && lines[to]!.block === null) to += 1;
  return [from, to];
}

/** How many lines are not of that sign. */
function count(lines: readonly HunkLine[], not: '+' | '-'): number {
  return lines.filter(({ sign }) => sign !== not).length;
}

/** As git prints it. */
export function hunkText({ place, lines, oldStart, newStart }: Hunk): string {
  const range = (start: number, length: number) =>
    `${length === 0 ? start : start + 1}${length === 1 ? '' : `,${length}`}`;
  const head = `@@ -${range(oldStart, count(lines, '+'))} +${range(newStart, count(lines, '-'))} @@${place}\n`;
  const body = lines.map(
    ({ sign, text }) => `${sign}${text}${text.endsWith('\n') ? '' : '\n\\ No newline at end of file\n'}`,
  );
  return head + body.join('');
}
