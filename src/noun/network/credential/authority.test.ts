import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { authorityKey } from './authority.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-authority-'));
  path = join(folder, 'authority.pem');
});
afterEach(() => rmSync(folder, { recursive: true }));

it('the key is made once, readable by its owner alone, without a temporary file left', () => {
  const key = authorityKey(path);
  expect(key).toContain('PRIVATE KEY');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(authorityKey(path)).toBe(key);
  expect(readdirSync(folder)).toEqual(['authority.pem']);
});

it('a key that others can read, or that is no key or no file, is refused', () => {
  authorityKey(path);
  chmodSync(path, 0o644);
  expect(() => authorityKey(path)).toThrow(/other accounts have permissions on it/);
  rmSync(path);
  writeFileSync(path, 'half a k', { mode: 0o600 });
  expect(() => authorityKey(path)).toThrow(expect.objectContaining({ code: 'corrupt' }));
  rmSync(path);
  symlinkSync('elsewhere', path);
  expect(() => authorityKey(path)).toThrow(expect.objectContaining({ code: 'denied' }));
  rmSync(path);
  mkdirSync(path, { mode: 0o700 });
  expect(() => authorityKey(path)).toThrow(expect.objectContaining({ code: 'denied' }));
});
