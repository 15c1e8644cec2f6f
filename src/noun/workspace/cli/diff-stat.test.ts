import { expect, test } from 'vitest';
import { Output } from '../../../client/output/output.ts';
import { width } from '../../../client/output/text.ts';
import type { ChangeView } from '../api.ts';
import { diffStat, nameStatus } from './diff-stat.ts';

const out = new Output(false, { write: () => {} });
const file = { oldType: 'file', newType: 'file', oldMode: 0o644, newMode: 0o644, oldSize: 12, newSize: 34 } as const;

function change(path: string, rest: Partial<ChangeView> = {}): ChangeView {
  return { path, status: 'M', ...file, insertions: 1, deletions: 0, gates: [], note: null, baseKnown: true, ...rest };
}

const ignored = { files: 0, more: false, places: [] };

function stat(changes: ChangeView[], columns: number | null = 80, hiddenInGit = 0): string[] {
  return diffStat({ changes, hiddenInGit, ignored }, out, columns);
}

test('the summary looks like git diff --stat', () => {
  const changes = [
    change('src/a.ts', { insertions: 3, deletions: 2 }),
    change('src/much-longer.ts', { insertions: 12, deletions: 0 }),
    change('logo.png', { insertions: null, deletions: null }),
    change('b', { status: 'R', from: 'a', insertions: 0, deletions: 0 }),
  ];
  expect(stat(changes)).toEqual([
    ' src/a.ts           |  5 +++--',
    ' src/much-longer.ts | 12 ++++++++++++',
    ' logo.png           |    Bin 12 -> 34 bytes',
    ' a => b             |  0',
    ' 4 files changed, 15 insertions(+), 2 deletions(-)',
  ]);
});

test('a count of one is singular', () => {
  expect(stat([change('a', { insertions: 1, deletions: 1 })]).at(-1)).toBe(
    ' 1 file changed, 1 insertion(+), 1 deletion(-)',
  );
});

test('changes of modes, gates, types and unknown bases are described in words', () => {
  const none = { insertions: null, deletions: null };
  const changes = [
    change('run', { insertions: 0, newMode: 0o755, gates: ['executable'] }),
    change('ci.yml', { gates: ['ci', 'scripts'], baseKnown: false }),
    change('dir', { ...none, status: 'A', oldType: null, newType: 'folder', oldMode: null, oldSize: null }),
    change('l', { ...none, status: 'T', newType: 'link' }),
    change('gone', { ...none, status: 'D', newType: null, newMode: null, newSize: null }),
  ];
  expect(stat(changes).slice(0, -1)).toEqual([
    ' run    | 0 mode 644 -> 755 [executable]',
    ' ci.yml | 1 + [ci, scripts] [project changed too]',
    ' dir    |   folder',
    ' l      |   file -> link',
    ' gone   |   Bin 12 -> 0 bytes',
  ]);
});

test('there is no column of numbers if all files are binary', () => {
  expect(stat([change('x', { insertions: null, deletions: null })])[0]).toBe(' x | Bin 12 -> 34 bytes');
});

test.each([40, 60, 80, 200])('the summary fits %i columns and shows every part', (columns) => {
  const changes = [
    change('a/very/long/path/that/goes/on/and/on/until/it/has/to/be/cut/somewhere.ts', {
      insertions: 9000,
      deletions: 1,
    }),
    change('日本語/ファイル.txt', { insertions: 1, deletions: 1, gates: ['env'] }),
    change('none', { insertions: 0 }),
  ];
  const lines = stat(changes, columns).slice(0, -1);
  for (const line of lines) expect(width(line)).toBeLessThanOrEqual(columns);
  expect(lines[0]).toMatch(/somewhere\.ts +\| 9001 \++-$/);
  expect(lines[1]).toMatch(/\| {4}2 \+- \[env\]$/);
  expect(lines[2]).toMatch(/\| {4}0$/);
});

test('names are not cut if the output is piped', () => {
  const name = 'x'.repeat(300);
  expect(stat([change(name, { insertions: 1000 })], null)[0]).toBe(` ${name} | 1000 ${'+'.repeat(40)}`);
});

test('names with control characters stay on one line', () => {
  const pathBase64 = Buffer.from([0x61, 0xff]).toString('base64');
  const lines = stat([change('a\nb\u001b'), change('a\ufffd', { pathBase64 })]);
  expect(lines[0]).toContain(' "a\\nb\\033" |');
  expect(lines[1]).toContain(' "a\\377"    |');
});

test('differences inside .git are counted', () => {
  expect(stat([change('a')], 80, 1).at(-1)).toBe(' 1 more path differs inside .git; commits travel by themselves');
  expect(stat([change('a')], 80, 2).at(-1)).toBe(' 2 more paths differ inside .git; commits travel by themselves');
});

test('the graph has colours on a terminal', () => {
  const terminal = new Output(false, { write: () => {}, isTTY: true }, undefined, {});
  const [line] = diffStat({ changes: [change('a', { deletions: 1 })], hiddenInGit: 0, ignored }, terminal, 80);
  expect(line).toBe(' a | 2 \u001b[32m+\u001b[0m\u001b[31m-\u001b[0m');
});

test('nameStatus lists each name with its status', () => {
  expect(nameStatus([change('a b'), change('new', { status: 'R', from: 'o\tld' }), change('x\ny')])).toEqual([
    'M\ta b',
    'R\t"o\\tld"\tnew',
    'M\t"x\\ny"',
  ]);
});

test('a hundred thousand changes can be shown', () => {
  const many = Array.from({ length: 100_000 }, (_, index) => change(`f${index}`));
  expect(stat(many)).toHaveLength(100_001);
});

test('ignored files are summed up in one line', () => {
  const many = { files: 34_367, more: false, places: ['node_modules/', 'dist/', 'a/b/', 'c'] };
  const lastLine = (ignored: typeof many) =>
    diffStat({ changes: [change('a')], hiddenInGit: 0, ignored }, out, 80).at(-1);
  expect(lastLine(many)).toBe(
    ' 34,367 ignored files in node_modules/, dist/, a/b/ … left out; --ignored includes them',
  );
  expect(lastLine({ ...many, files: 10_000, more: true })).toContain(
    ' more than 10,000 ignored files in node_modules/',
  );
});
