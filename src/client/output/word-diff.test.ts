import { expect, test } from 'vitest';
import { wordDiff } from './word-diff.ts';

const marked = (before: string, after: string) => {
  const found = wordDiff(before, after);
  const text = (parts: readonly { text: string; changed: boolean }[]) =>
    parts.map(({ text, changed }) => (changed ? `[${text}]` : text)).join('');
  return found && [text(found.old), text(found.now)];
};

test('wordDiff marks the words that differ', () => {
  expect(marked('const a = 1;', 'const b = 1;')).toEqual(['const [a] = 1;', 'const [b] = 1;']);
  expect(marked('f(one, two)', 'f(one, three, two)')).toEqual(['f(one, two)', 'f(one, [three, ]two)']);
  expect(marked('a x b y c', 'a p b q c')).toEqual(['a [x] b [y] c', 'a [p] b [q] c']);
});

test('lines with nothing in common have no marks', () => {
  expect(marked('alpha();', 'beta();')).toBeNull();
  expect(marked('', 'x')).toBeNull();
});

test('a long line is compared only at its beginning and end', () => {
  const long = 'w '.repeat(2000);
  expect(marked(`start ${long}end`, `start x ${long.replaceAll('w', 'v')}end`)?.[0]).toMatch(/^start \[w .*\] end$/);
});
