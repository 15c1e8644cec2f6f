/**
 * The section of one file in a unified diff, as bytes in latin1. A block is a run of lines that differ, without context: the
 * smallest part that can be taken alone. Blocks are numbered through the file.
 */

export interface PatchSection {
  /** The lines before the first hunk. */
  readonly head: string;
  readonly hunks: readonly Hunk[];
}

export interface Hunk {
  /** After the second `@@`: the function that git found. */
  readonly place: string;
  readonly lines: readonly HunkLine[];
  /** The indices of the first line in the old and in the new file, from 0. */
  readonly oldStart: number;
  readonly newStart: number;
}

export interface HunkLine {
  readonly sign: ' ' | '+' | '-';
  /** The line with its newline, which the last line may not have. */
  readonly text: string;
  /** Null: the line does not differ. */
  readonly block: number | null;
}

const hunkHead = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@([^\n]*)\n?$/;

/** Lines of content begin with a sign, so only the head of a hunk begins with `@@`. */
export function parseSection(section: string): PatchSection {
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
    lines: numbered(withoutNewlineMarks(lines), firstBlock),
    oldStart: positionOf(oldStart, oldCount),
    newStart: positionOf(newStart, newCount),
  };
}

/** Git names the line before an empty range. */
function positionOf(start: string | undefined, count: string): number {
  return Number(start) - (count === '0' ? 0 : 1);
}

/** `\ No newline at end of file` belongs to the line before it. */
export function withoutNewlineMarks(lines: readonly string[]): string[] {
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

/** Some lines of the old text, from `at` to before `end`, and the lines that take their place. */
export interface Replacement {
  readonly block: number;
  readonly at: number;
  readonly end: number;
  readonly added: readonly string[];
}

export function replacementsOf({ lines, oldStart }: Pick<Hunk, 'lines' | 'oldStart'>): Replacement[] {
  const found: { block: number; at: number; end: number; added: string[] }[] = [];
  let at = oldStart;
  let isInside = false;
  for (const { sign, text, block } of lines) {
    if (block !== null && !isInside) found.push({ block, at, end: at, added: [] });
    isInside = block !== null;
    if (sign === '+') found.at(-1)!.added.push(text);
    else at += 1;
    if (sign === '-') found.at(-1)!.end = at;
  }
  return found;
}

/** The replacements in the order of the text; null: two replace the same line. */
export function inOrder(replacements: readonly Replacement[]): Replacement[] | null {
  const sorted = [...replacements].sort((a, b) => a.at - b.at || a.block - b.block);
  const isApart = sorted.every(({ at }, index) => index === 0 || sorted[index - 1]!.end <= at);
  return isApart ? sorted : null;
}

/** The old text with these blocks taken, and these edited hunks; null: two of them replace the same line. */
export function withBlocks(
  old: string,
  { hunks }: PatchSection,
  chosen: ReadonlySet<number>,
  edited: readonly Hunk[] = [],
): string | null {
  const taken = hunks.flatMap(replacementsOf).filter(({ block }) => chosen.has(block));
  const replacements = inOrder([...taken, ...edited.flatMap(replacementsOf)]);
  return replacements && replaced(old, replacements);
}

function replaced(old: string, replacements: readonly Replacement[]): string {
  const lines = old.split(/(?<=\n)/);
  let next = 0;
  const parts = replacements.map(({ at, end, added }) => {
    const kept = lines.slice(next, at);
    next = end;
    return kept.join('') + added.join('');
  });
  return parts.join('') + lines.slice(next).join('');
}

/** One hunk for each block, with the lines around it that do not differ. */
export function splitHunk(hunk: Hunk): Hunk[] {
  const blocks = blocksOf(hunk);
  return blocks.length < 2 ? [hunk] : blocks.map((block) => partOf(hunk, block, block));
}

/** The blocks from `first` to `last`, with the lines around them that do not differ. */
export function partOf(hunk: Hunk, first: number, last: number): Hunk {
  const [from, to] = rangeAround(hunk.lines, first, last);
  const before = hunk.lines.slice(0, from);
  return {
    place: hunk.place,
    lines: hunk.lines.slice(from, to),
    oldStart: hunk.oldStart + count(before, '+'),
    newStart: hunk.newStart + count(before, '-'),
  };
}

function rangeAround(lines: readonly HunkLine[], first: number, last: number): [from: number, to: number] {
  let from = lines.findIndex((line) => line.block === first);
  let to = lines.findLastIndex((line) => line.block === last) + 1;
  while (from > 0 && lines[from - 1]!.block === null) from -= 1;
  while (to < lines.length && lines[to]!.block === null) to += 1;
  return [from, to];
}

/** The number of lines without that sign. */
function count(lines: readonly HunkLine[], not: '+' | '-'): number {
  return lines.filter(({ sign }) => sign !== not).length;
}

/** The hunk as git prints it. */
export function hunkText(hunk: Hunk): string {
  return headText(hunk) + linesText(hunk.lines);
}

/** `@@ -1,3 +1,4 @@` */
export function headText({ place, lines, oldStart, newStart }: Hunk): string {
  const range = (start: number, length: number) =>
    `${length === 0 ? start : start + 1}${length === 1 ? '' : `,${length}`}`;
  return `@@ -${range(oldStart, count(lines, '+'))} +${range(newStart, count(lines, '-'))} @@${place}\n`;
}

export function linesText(lines: readonly HunkLine[]): string {
  const ended = ({ sign, text }: HunkLine) =>
    `${sign}${text}${text.endsWith('\n') ? '' : '\n\\ No newline at end of file\n'}`;
  return lines.map(ended).join('');
}
