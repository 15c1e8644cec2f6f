import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeFile } from './make-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-make-file-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const content = (text: string, mode = 0o644) => ({ bytes: Buffer.from(text), mode });

it('a new file has the content and exactly the mode', () => {
  const before = process.umask(0o077);
  makeFile(join(folder, 'a'), content('text', 0o666));
  process.umask(before);
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('text');
  expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o666);
});

it('until the file is whole, it belongs to this account alone', () => {
  makeFile(join(folder, 'a'), content('text'), () => expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o600));
  expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o644);
});

it.each([
  ['a file', () => writeFileSync(join(folder, 'a'), 'other')],
  ['a link to nothing', () => symlinkSync(join(folder, 'b'), join(folder, 'a'))],
])('a name that is taken by %s is refused, and stays', (_what, take) => {
  take();
  expect(() => makeFile(join(folder, 'a'), content('text'))).toThrow('EEXIST');
  expect(readdirSync(folder)).toEqual(['a']);
});

it('a file that cannot be made whole is removed', () => {
  const fail = () => {
    throw new Error('no space');
  };
  expect(() => makeFile(join(folder, 'a'), content('text'), fail)).toThrow('no space');
  expect(readdirSync(folder)).toEqual([]);
});
