import { describe, expect, it, test } from 'vitest';
import { unifiedDiff } from './diff.ts';

const diff = (before: string | null, after: string | null) =>
  unifiedDiff('x', before === null ? null : Buffer.from(before), after === null ? null : Buffer.from(after));

/** Applies a diff to the old text and returns the new one. */
function patched(before: string, shown: string): string {
  const old = before.split(/(?<=\n)/);
  const result: string[] = [];
  let at = 0;
  for (const line of shown.split(/(?<=\n)/).slice(2)) {
    const start = /^@@ -(\d+),(\d+) /.exec(line);
    if (start) {
      const from = Number(start[1]) - (start[2] === '0' ? 0 : 1);
      result.push(...old.slice(at, from));
      at = from;
    } else if (line.startsWith('+')) result.push(line.slice(1));
    else if (line.startsWith('-')) expect(old[at++]).toBe(line.slice(1));
    else if (line.startsWith(' ')) {
      expect(old[at]).toBe(line.slice(1));
      result.push(old[at++]!);
    }
  }
  return [...result, ...old.slice(at)].join('');
}

describe('a unified diff', () => {
  it('shows new, removed, binary and unchanged files', () => {
    expect(diff(null, 'a\n')).toBe('--- /dev/null\n+++ b/x\n@@ -0,0 +1,1 @@\n+a\n');
    expect(diff('a\n', null)).toBe('--- a/x\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n');
    expect(diff('a\n', 'a\0')).toContain('Binary files differ');
    expect(diff('a\n', 'a\n')).toBe('--- a/x\n+++ b/x\n');
  });

  it('marks a last line without an end', () => {
    expect(diff('a', 'a\n')).toContain('-a\n\\ No newline at end of file\n+a\n');
  });

  it('puts changes that are far apart into separate hunks', () => {
    const lines = Array.from({ length: 40 }, (_, n) => `${n}\n`);
    const shown = diff(lines.join(''), lines.with(3, 'x\n').with(30, 'y\n').join(''));
    expect(shown.match(/^@@.*$/gm)).toEqual(['@@ -1,7 +1,7 @@', '@@ -28,7 +28,7 @@']);
  });

  test.each(Array.from({ length: 50 }, (_, seed) => [seed]))('turns the old text into the new one, case %i', (seed) => {
    let state = seed + 1;
    const next = (below: number) => {
      state = (state * 48271) % 2147483647;
      return state % below;
    };
    const words = () => Array.from({ length: next(60) }, () => `${next(6)}\n`).join('');
    const [before, after] = [words(), words()];
    expect(patched(before, diff(before, after))).toBe(after);
  });
});

it('a diff of long texts that differ in every line turns the old text into the new one', () => {
  const [before, after] = ['a', 'b'].map((word) => Array.from({ length: 20_000 }, (_, n) => `${word}${n}\n`).join(''));
  expect(patched(before!, diff(before!, after!))).toBe(after);
});
