import { expect, it } from 'vitest';
import { table } from './table.ts';

const rows = [
  ['NAME', 'PROJECT', 'COMMAND', 'WHY'],
  ['a-sandbox', '~/a/folder/that/is/deep', `sh -c '${'x'.repeat(60)}'`, 'it was stopped by its owner, and then again'],
  ['b', '-', '-', '-'],
];

it('a table fits into 80 columns: long cells are cut, the last column is wrapped, names stay whole', () => {
  const lines = table(rows, 80);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(lines).toEqual([
    'NAME       PROJECT               COMMAND                WHY',
    expect.stringMatching(/^a-sandbox {2}~\/a\/folder\/\S*… {2}sh -c 'x+… {2}it was stopped by its$/),
    expect.stringMatching(/^ {50,}owner, and then again$/),
    expect.stringMatching(/^b {10}-/),
  ]);
});

it('a piped table is not cut', () => {
  expect(table(rows, null).join('\n')).toContain(`${'x'.repeat(60)}'  it was stopped by its owner, and then again`);
});

it('a long word in a table of two columns stays whole', () => {
  const path = `/${'folder/'.repeat(20)}`;
  expect(table([['project', path]], 80)).toEqual([`project  ${path}`]);
});

it('escape sequences of colours take no columns and are never cut', () => {
  const painted = `\u001b[32m${'running '.repeat(5)}\u001b[0m`;
  const [, line] = table(
    [
      ['NAME', 'STATE', 'WHY'],
      ['a'.repeat(20), painted, 'b'.repeat(20)],
    ],
    60,
  );
  expect(line).toBe(`${'a'.repeat(20)}  running running…  ${'b'.repeat(20)}`);
});
