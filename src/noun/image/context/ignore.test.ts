import { describe, expect, it, test } from 'vitest';
import { processorMs } from '../../../../test/harness/processor-time.ts';
import { parseIgnore } from './ignore.ts';
import { matchesName, namePattern } from './pattern.ts';

describe('.dockerignore', () => {
  it.each<[rules: string, out: string[], kept: string[]]>([
    ['', [], ['a']],
    ['# a\n\n   \n', [], ['a', '# a']],
    ['a', ['a', 'a/b', 'a/b/c'], ['b/a', 'ab']],
    ['/a/', ['a', 'a/b'], ['b/a']],
    ['./a/../b', ['b'], ['a']],
    ['*/temp*', ['x/temporary', 'x/temp/y'], ['temp', 'x/y/temp']],
    ['*/*/temp*', ['x/y/temp.txt'], ['x/temp.txt']],
    ['temp?', ['tempa'], ['temp', 'tempab']],
    ['**/*.go', ['a.go', 'x/y/a.go'], ['a.got']],
    ['a/**', ['a/b', 'a/b/c'], ['b']],
    ['a/**/b', ['a/b', 'a/x/y/b'], ['a/x']],
    ['**', ['a', 'a/b'], []],
    ['*\n!README.md', ['a', 'b/README.md'], ['README.md']],
    ['*.md\n!README*.md\nREADME-secret.md', ['a.md', 'README-secret.md'], ['README.md', 'README-x.md']],
    ['a\n!a/keep', ['a/b'], ['a/keep', 'a/keep/c']],
    ['!a\na', ['a'], []],
    ['[a-c]x\n[^d]y', ['ax', 'cx', 'ey'], ['dx', 'dy']],
    ['a\\*', ['a*'], ['ab']],
    ['\ufeffa\r\nb\r\n', ['a', 'b'], ['c']],
    ['ä', [Buffer.from('ä').toString('latin1')], ['a']],
  ])('%j', (rules, out, kept) => {
    const ignore = parseIgnore('.dockerignore', rules);
    expect(out.filter((path) => !ignore.leavesOut(path))).toEqual([]);
    expect(kept.filter((path) => ignore.leavesOut(path))).toEqual([]);
  });

  it.each(['a**b', '[a', 'a\\', '[]', '[a-]'])('%j is refused with its line', (rule) => {
    expect(() => parseIgnore('.dockerignore', `x\n${rule}`)).toThrow('.dockerignore, line 2: ');
  });
});

test('a pattern built for long backtracking is matched quickly', () => {
  const pattern = namePattern(`${'*a'.repeat(60)}b`)!;
  const began = processorMs();
  expect(matchesName(pattern, 'a'.repeat(255))).toBe(false);
  const ignore = parseIgnore('I', `${'**/a/'.repeat(50)}b`);
  expect(ignore.leavesOut(Array.from({ length: 100 }, () => 'a').join('/'))).toBe(false);
  expect(processorMs() - began).toBeLessThan(1000);
});
