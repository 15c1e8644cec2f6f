import { describe, expect, test } from 'vitest';
import { blocksOf, hunkText, parseSection, splitHunk, withBlocks } from './patch-section.ts';

const head = 'diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n';
const section = `${head}@@ -1,7 +1,7 @@ place\n-a\n+A\n b\n c\n d\n+x\n e\n-f\n g\n@@ -20 +20,2 @@\n-t\n\\ No newline at end of file\n+t\n+u\n`;
const old = `a\nb\nc\nd\ne\nf\ng\n${Array.from({ length: 12 }, (_, n) => `${n}\n`).join('')}t`;

describe('a section', () => {
  test('has hunks with numbered blocks', () => {
    const parsed = parseSection(section);
    expect(parsed.head).toBe(head);
    expect(parsed.hunks.map(blocksOf)).toEqual([[0, 1, 2], [3]]);
    expect(parsed.hunks[0]).toMatchObject({ place: ' place', oldStart: 0, newStart: 0 });
  });

  test('is printed as it was', () => {
    expect(head + parseSection(section).hunks.map(hunkText).join('')).toBe(section);
  });

  test('is split into hunks that git numbers in the same way', () => {
    const parts = parseSection(section).hunks.flatMap(splitHunk);
    expect(parts.map((part) => hunkText(part).split('\n')[0])).toEqual([
      '@@ -1,4 +1,4 @@ place',
      '@@ -2,4 +2,5 @@ place',
      '@@ -5,3 +6,2 @@ place',
      '@@ -20 +20,2 @@',
    ]);
  });

  test('a line that looks like the head of a hunk after a carriage return is content', () => {
    const odd = `${head}@@ -1 +1 @@\n-a\n+b\r@@ -9 +9 @@\n`;
    expect(parseSection(odd).hunks).toHaveLength(1);
  });
});

test.each([
  [[], old],
  [[0], old.replace('a\n', 'A\n')],
  [[1, 2], old.replace('d\n', 'd\nx\n').replace('f\n', '')],
  [[3], `${old}\nu\n`],
])('blocks %j alone are taken', (blocks, expected) => {
  expect(withBlocks(old, parseSection(section), new Set(blocks))).toBe(expected);
});

test('lines are added to an empty file', () => {
  const added = `${head}@@ -0,0 +1,2 @@\n+a\n+b\n`;
  expect(withBlocks('', parseSection(added), new Set([0]))).toBe('a\nb\n');
  expect(hunkText(parseSection(added).hunks[0]!)).toBe('@@ -0,0 +1,2 @@\n+a\n+b\n');
});

test('blocks of a file with many lines between two changes are taken', () => {
  const lines = 300_000;
  const long = 'x\n'.repeat(lines);
  const two = parseSection(`${head}@@ -1 +1 @@\n-x\n+a\n@@ -${lines} +${lines} @@\n-x\n+b\n`);
  expect(withBlocks(long, two, new Set([0, 1]))).toBe(`a\n${'x\n'.repeat(lines - 2)}b\n`);
});
