import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { OwnLog } from './own-log.ts';

let home: string;
let path: string;
let descriptors: [number, number];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'carrel-own-log-'));
  path = join(home, 'some.log');
  descriptors = [openSync(path, 'a', 0o600), openSync(path, 'a')];
});
afterEach(() => {
  for (const one of descriptors) closeSync(one);
  rmSync(home, { recursive: true });
});
const content = () =>
  readdirSync(home)
    .sort()
    .map((name) => readFileSync(join(home, name), 'utf8'));

it('a full log starts a new file, and keeps the configured number of files', () => {
  const log = new OwnLog(path, { maxBytes: 10, files: 3, descriptors });
  for (let n = 1; n <= 9; n += 1) log.write(`line ${n}\n`);
  expect(content()).toEqual(['line 9\n', 'line 8\n', 'line 7\n']);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('every descriptor of the log leads to the new file', () => {
  const log = new OwnLog(path, { maxBytes: 10, files: 3, descriptors });
  log.write('line 1\n');
  log.write('line 2\n');
  new OwnLog(path, { descriptors: [descriptors[1]] }).write('x\n');
  expect(content()).toEqual(['line 2\nx\n', 'line 1\n']);
});

it('a log that another program has moved is not written any more', () => {
  const log = new OwnLog(path, { maxBytes: 10, files: 3, descriptors });
  log.write('line 1\n');
  renameSync(path, `${path}.1`);
  log.write('line 2\n');
  expect(content()).toEqual(['line 2\n', 'line 1\n']);
});

it('a file of another program is never rotated', () => {
  const other = join(home, 'mine');
  closeSync(descriptors[0]);
  descriptors[0] = openSync(other, 'a');
  const log = new OwnLog(path, { maxBytes: 10, files: 3, descriptors });
  for (let n = 1; n <= 3; n += 1) log.write(`line ${n}\n`);
  expect(readFileSync(other, 'utf8')).toBe('line 1\nline 2\nline 3\n');
  expect(readdirSync(home).sort()).toEqual(['mine', 'some.log']);
});
