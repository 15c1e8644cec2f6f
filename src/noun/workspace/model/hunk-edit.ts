/**
 * Hunks that the reviewer edited, as in `git add -e`: lines of a unified diff, as bytes in latin1. The reviewer can
 * keep or delete lines of the old file, and add any lines. The client and the daemon check an edit with the same code.
 */
import { blocksOf, type Hunk, type HunkLine, type PatchSection, partOf, withoutNewlineMarks } from './patch-section.ts';

/** The hunk that has exactly these blocks, whole or split, and the lines that take its place. */
export interface HunkEdit {
  readonly blocks: readonly number[];
  readonly lines: string;
}

export const maxHunkBytes = 2 * 1024 * 1024;

/** The hunk with these lines; null: they are no hunk, change nothing, or are not about the old lines of this hunk. */
export function editedHunk(hunk: Hunk, text: string): Hunk | null {
  const lines = parseLines(text, blocksOf(hunk)[0]!);
  if (lines === null || lines.every(({ block }) => block === null) || text.length > maxHunkBytes) return null;
  const offset = offsetOf(lines, hunk);
  if (offset === null || !endsWell(lines, hunk, offset)) return null;
  return { ...hunk, lines, oldStart: hunk.oldStart + offset, newStart: hunk.newStart + offset };
}

/** The edited hunks. Each edit is for other blocks of the section. Null: one does not apply. */
export function editedHunks({ hunks }: PatchSection, edits: readonly HunkEdit[]): Hunk[] | null {
  const edited = edits.map(({ blocks, lines }) => {
    const hunk = hunks.find((one) => one.lines.some(({ block }) => block === blocks[0]));
    const part = hunk && partOf(hunk, blocks[0]!, blocks.at(-1)!);
    const isWhole = part !== undefined && blocksOf(part).join() === blocks.join();
    return isWhole ? editedHunk(part, lines) : null;
  });
  return edited.every((hunk) => hunk !== null) ? edited : null;
}

/** A line without a sign is an empty line that does not differ: editors remove spaces at the end. */
function parseLines(text: string, block: number): HunkLine[] | null {
  const lines = text.split(/(?<=\n)/);
  const isLine = (line: string | undefined) => line !== undefined && /^(?:[ +-]|\r?\n)/.test(line);
  if (!lines.every((line, at) => isLine(line) || (line.startsWith('\\') && isLine(lines[at - 1])))) return null;
  return withoutNewlineMarks(lines).map((line) => {
    const sign = /^[+-]/.test(line) ? (line[0] as '+' | '-') : ' ';
    return { sign, text: /^[ +-]/.test(line) ? line.slice(1) : line, block: sign === ' ' ? null : block };
  });
}

/**
 * The number of leading old lines that the edit leaves out: only context before and after the changes may be left out.
 * Null: other lines are missing, or the place is ambiguous.
 */
function offsetOf(lines: readonly HunkLine[], hunk: Hunk): number | null {
  const [old, shown] = [side(lines, '-'), side(hunk.lines, '-')];
  const before = hunk.lines.findIndex(({ block }) => block !== null);
  const after = hunk.lines.length - 1 - hunk.lines.findLastIndex(({ block }) => block !== null);
  const left = shown.length - old.length;
  const offsets = Array.from({ length: before + 1 }, (_, offset) => offset).filter(
    (offset) => offset <= left && left - offset <= after && old.every((line, at) => line === shown[at + offset]),
  );
  return offsets.length === 1 ? offsets[0]! : null;
}

/** Only the last line of a file can lack a newline: a hunk that shows such a line reaches the end of the file. */
function endsWell(lines: readonly HunkLine[], hunk: Hunk, offset: number): boolean {
  const isLast = hunk.lines.some(({ text }) => !text.endsWith('\n'));
  const isWhole = offset + side(lines, '-').length === side(hunk.lines, '-').length;
  const result = side(lines, '+');
  return result.every((line, at) => line.endsWith('\n') || (at === result.length - 1 && isLast && isWhole));
}

/** The lines of the old or of the new file. */
function side(lines: readonly HunkLine[], sign: '+' | '-'): string[] {
  return lines.filter((line) => line.sign === ' ' || line.sign === sign).map(({ text }) => text);
}
