import { describe, expect, test } from 'vitest';
import { editedHunk, editedHunks, maxHunkBytes } from './hunk-edit.ts';
import { blocksOf, type Hunk, hunkText, parseSection, partOf, splitHunk, withBlocks } from './patch-section.ts';

const head = 'diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n';
const old = 'a\nb\nc\nd\ne\nf\ng\nh\n';
const body = ' a\n-b\n+B\n c\n d\n-e\n+E\n f\n g\n';
const section = parseSection(`${head}@@ -1,7 +1,7 @@ place\n${body}`);
const [hunk] = section.hunks as [Hunk];

/** The file with that edit of its only hunk; null: the edit does not apply. */
function result(lines: string, of: Hunk = hunk, file = old): string | null {
  const edited = editedHunk(of, lines);
  return edited && withBlocks(file, section, new Set(), [edited]);
}

describe('an edited hunk', () => {
  test.each([
    ['as it was', body, 'a\nB\nc\nd\nE\nf\ng\nh\n'],
    ['with a deletion that is context now', body.replace('-b', ' b').replace('+B\n', ''), 'a\nb\nc\nd\nE\nf\ng\nh\n'],
    ['with other lines', body.replace('+B', '+x\n+y'), 'a\nx\ny\nc\nd\nE\nf\ng\nh\n'],
    ['with more deletions', body.replace(' c', '-c'), 'a\nB\nd\nE\nf\ng\nh\n'],
    ['with lines at its ends', `+0\n${body}+9\n`, '0\na\nB\nc\nd\nE\nf\ng\n9\nh\n'],
    ['without its first context', body.slice(3), 'a\nB\nc\nd\nE\nf\ng\nh\n'],
    ['without its last context', body.slice(0, -6), 'a\nB\nc\nd\nE\nf\ng\nh\n'],
    ['with other ends of lines', body.replace('+B', '+\xff\r'), 'a\n\xff\r\nc\nd\nE\nf\ng\nh\n'],
  ])('applies %s', (_, lines, expected) => {
    expect(result(lines)).toBe(expected);
  });

  test.each([
    ['context that is another line', body.replace(' c', ' x')],
    ['a deletion of another line', body.replace('-b', '-x')],
    ['a deletion that is missing', body.replace('-b\n', '')],
    ['context that is missing between changes', body.replace(' c\n', '')],
    ['more context than was shown', `${body} h\n`],
    ['no change', ' a\n b\n c\n d\n e\n f\n g\n'],
    ['no line of its last change', ' a\n-b\n+x\n c\n'],
    ['no line of its first change', ' d\n-e\n+x\n f\n'],
    ['nothing', ''],
    ['a line without a sign', body.replace('+B', 'B')],
    ['another hunk', `${body}@@ -8 +8 @@\n-h\n+H\n`],
    ['a mark for the end of a file before all lines', `\\ No newline at end of file\n${body}`],
    ['a line without an end before other lines', body.replace('+B\n', '+B\n\\ No newline at end of file\n')],
    ['a line without an end that is not the last of the file', `${body}+x\n\\ No newline at end of file\n`],
    ['too many bytes', `${body}+${'x'.repeat(maxHunkBytes)}\n`],
  ])('does not apply with %s', (_, lines) => {
    expect(result(lines)).toBeNull();
  });

  test('has new counts of lines in its head', () => {
    const edited = editedHunk(hunk, '-b\n+B\n+C\n c\n d\n e\n');
    expect(hunkText(edited!)).toBe('@@ -2,4 +2,5 @@ place\n-b\n+B\n+C\n c\n d\n e\n');
    expect(blocksOf(edited!)).toEqual([0]);
  });

  test('may lack the spaces of empty lines', () => {
    const empty = parseSection(`${head}@@ -1,4 +1,4 @@\n \n-b\n+B\n \r\n d\n`).hunks[0]!;
    expect(result('\n-b\n+x\n\r\n d\n', empty, '\nb\n\r\nd\n')).toBe('\nx\n\r\nd\n');
  });

  test('keeps and changes the end of the last line', () => {
    const mark = '\\ No newline at end of file\n';
    const last = parseSection(`${head}@@ -1,2 +1,2 @@\n a\n-b\n${mark}+B\n${mark}`).hunks[0]!;
    expect(result(` a\n-b\n${mark}+x\n+y\n${mark}`, last, 'a\nb')).toBe('a\nx\ny');
    expect(result(` a\n-b\n${mark}+x\n`, last, 'a\nb')).toBe('a\nx\n');
    expect(result(`-a\n b\n${mark}`, last, 'a\nb')).toBe('b');
    expect(result(' a\n-b\n+x\n', last, 'a\nb')).toBeNull();
    expect(result(` a\n b\n${mark}+x\n`, last, 'a\nb')).toBeNull();
  });

  test('applies to a file that was empty', () => {
    const empty = parseSection(`${head}@@ -0,0 +1,2 @@\n+a\n+b\n`).hunks[0]!;
    expect(result('+x\n', empty, '')).toBe('x\n');
  });

  test('does not apply if its lines fit at several places', () => {
    const same = parseSection(`${head}@@ -1,6 +1,7 @@\n x\n x\n x\n+n\n x\n x\n x\n`).hunks[0]!;
    expect(result(' x\n x\n+m\n', same, 'x\n'.repeat(6))).toBeNull();
  });
});

describe('edited hunks of a file', () => {
  const [first, second] = splitHunk(hunk) as [Hunk, Hunk];
  const taken = (edits: [number[], string][], blocks: number[] = []) => {
    const edited = editedHunks(
      section,
      edits.map(([of, lines]) => ({ blocks: of, lines })),
    );
    return edited && withBlocks(old, section, new Set(blocks), edited);
  };

  test('apply to whole hunks and to split ones', () => {
    expect(partOf(hunk, 0, 1)).toEqual(hunk);
    expect([first, second].map((part) => part.lines.length)).toEqual([5, 6]);
    expect(taken([[[0, 1], body]])).toBe('a\nB\nc\nd\nE\nf\ng\nh\n');
    expect(taken([[[0], ' a\n-b\n+1\n c\n d\n']], [1])).toBe('a\n1\nc\nd\nE\nf\ng\nh\n');
    const both: [number[], string][] = [
      [[1], ' c\n d\n-e\n+2\n f\n g\n'],
      [[0], ' a\n-b\n+1\n c\n d\n'],
    ];
    expect(taken(both)).toBe('a\n1\nc\nd\n2\nf\ng\nh\n');
  });

  test('may add lines where the next hunk begins', () => {
    expect(taken([[[0], ' a\n-b\n+1\n c\n d\n+3\n+4\n']], [1])).toBe('a\n1\nc\nd\n3\n4\nE\nf\ng\nh\n');
  });

  test('do not apply if they replace the same line', () => {
    const both: [number[], string][] = [
      [[0], ' a\n-b\n-c\n d\n'],
      [[1], '-c\n d\n-e\n+2\n f\n g\n'],
    ];
    expect(taken(both)).toBeNull();
  });

  test.each([[[0, 0]], [[1, 0]], [[2]], [[-1]], [[0, 1, 2]]])('do not apply to blocks %j', (blocks) => {
    expect(taken([[blocks, body]])).toBeNull();
  });
});
