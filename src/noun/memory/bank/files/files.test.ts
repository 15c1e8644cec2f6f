import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BankFiles, hashOf } from './files.ts';

let folder: string;
let files: BankFiles;
const at = (path: string) => join(folder, 'files', path);
const hash = (text: string) => hashOf(Buffer.from(text));
const put = (path: string, text: string, replaces: string | null) => files.put(path, Buffer.from(text), replaces);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-bank-files-'));
  mkdirSync(at('shop'), { recursive: true });
  files = new BankFiles(
    { files: join(folder, 'files'), folder: join(folder, 'history'), ownerId: null },
    { fileBytes: 1000, files: 10 },
  );
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a file that was changed since it was read is not replaced, and no staged file is left', () => {
  writeFileSync(at('shop/a.md'), 'changed meanwhile');
  expect(put('shop/a.md', 'new', hash('old'))).toBe(false);
  expect(readFileSync(at('shop/a.md'), 'utf8')).toBe('changed meanwhile');
  expect(put('shop/a.md', 'new', null)).toBe(false);
  expect(readFileSync(at('shop/a.md'), 'utf8')).toBe('changed meanwhile');
  expect(put('shop/a.md', 'new', hash('changed meanwhile'))).not.toBe(false);
  expect(readFileSync(at('shop/a.md'), 'utf8')).toBe('new');
  expect(readdirSync(join(folder, 'history/stage'))).toEqual([]);
  expect(readdirSync(at('shop'))).toEqual(['a.md']);
});

test('a write does not replace a file that became a link or a folder or was removed meanwhile', () => {
  writeFileSync(join(folder, 'outside'), 'old');
  symlinkSync(join(folder, 'outside'), at('shop/link.md'));
  expect(put('shop/link.md', 'new', hash('old'))).toBe(false);
  expect(readFileSync(join(folder, 'outside'), 'utf8')).toBe('old');
  mkdirSync(at('shop/folder.md'));
  expect(put('shop/folder.md', 'new', hash('old'))).toBe(false);
  expect(readdirSync(at('shop/folder.md'))).toEqual([]);
  expect(put('shop/gone.md', 'new', hash('old'))).toBe(false);
  expect(existsSync(at('shop/gone.md'))).toBe(false);
});

test('a file with another content than expected is not removed', () => {
  writeFileSync(at('shop/a.md'), 'changed meanwhile');
  expect(files.remove('shop/a.md', hash('old'))).toBe(false);
  expect(files.remove('shop/a.md', hash('changed meanwhile'))).toBe(true);
  expect(existsSync(at('shop/a.md'))).toBe(false);
});

test('a file that was changed just now has no stamp, because another change could have the same time', () => {
  writeFileSync(at('shop/a.md'), 'one');
  expect(files.read('shop/a.md')).toMatchObject({ stamp: null, hash: hash('one') });
});
