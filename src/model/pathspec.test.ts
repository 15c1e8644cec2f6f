import { expect, test } from 'vitest';
import { parsePathspec, pathFilter, pathspecText } from './pathspec.ts';

const paths = ['a.ts', 'b.js', 'docs/a.md', 'src/a.ts', 'src/deep/b.ts', 'src/[id].tsx', 'src/i.tsx', 'A.TS'];

test.each([
  [['*.ts'], ['a.ts', 'src/a.ts', 'src/deep/b.ts']],
  [['src'], ['src/a.ts', 'src/deep/b.ts', 'src/[id].tsx', 'src/i.tsx']],
  [['src/*.ts'], ['src/a.ts', 'src/deep/b.ts']],
  [[':(glob)src/*.ts'], ['src/a.ts']],
  [[':(glob)**/*.ts'], ['a.ts', 'src/a.ts', 'src/deep/b.ts']],
  [[':(glob)src/**'], ['src/a.ts', 'src/deep/b.ts', 'src/[id].tsx', 'src/i.tsx']],
  [[':(glob)src/**/b.ts'], ['src/deep/b.ts']],
  [['src/[id].tsx'], ['src/[id].tsx', 'src/i.tsx']],
  [[':(literal)src/[id].tsx'], ['src/[id].tsx']],
  [['src/\\[id].tsx'], ['src/[id].tsx']],
  [['?.[!t]*'], ['b.js', 'A.TS']],
  [['[[:upper:]].*'], ['A.TS']],
  [[':(icase)a.ts'], ['a.ts', 'A.TS']],
  [['*.ts', ':!src'], ['a.ts']],
  [
    [':^src', ':(exclude)*.js', ':!docs'],
    ['a.ts', 'A.TS'],
  ],
  [['['], []],
])('pathFilter selects paths by %j', (specs, expected) => {
  const filter = pathFilter(specs);
  expect(paths.filter((path) => filter.matches(path))).toEqual(expected);
});

test('idle lists a spec that matches no path, but never an exclusion', () => {
  expect(pathFilter(['src', '*.go', ':!none']).idle(paths)).toEqual(['*.go']);
});

test('the text of a spec is parsed to the same spec', () => {
  for (const text of ['a', ':!a', ':/a', ':(glob,icase)a*', ':(literal):x']) {
    const spec = parsePathspec(text);
    expect(parsePathspec(pathspecText(spec))).toEqual(spec);
  }
  expect(pathspecText({ words: [], path: ':x' })).toBe(':(literal):x');
  expect(() => parsePathspec(':(attr:x)a')).toThrow('is not known in a path');
});

test('a pattern with many stars is matched in short time', () => {
  const filter = pathFilter(['*a'.repeat(40)]);
  expect(filter.matches('a'.repeat(4000).concat('b'))).toBe(false);
});
