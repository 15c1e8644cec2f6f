import { closeSync, constants, mkdirSync, mkdtempSync, openSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { maxUnfinishedBytes, maxUnfinishedEntries, UnfinishedEntries } from './unfinished-entries.ts';

let folder: string;
let fd: number;
let nowMs: number;
let entries: UnfinishedEntries;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-unfinished-'));
  fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  nowMs = 0;
  entries = new UnfinishedEntries(fd, () => nowMs);
});
afterEach(() => {
  closeSync(fd);
  rmSync(folder, { recursive: true, force: true });
});

const put = (name: string, bytes = 0) => {
  writeFileSync(join(folder, name), Buffer.alloc(bytes, 1));
  entries.add(Buffer.from(name));
};
const excess = () => entries.check().map(({ name, reason }) => `${name}: ${reason}`);

it('R21: hidden files within the bounds stay, removed ones are forgotten, and the next check is due after 5 seconds', () => {
  put('.one');
  put('.two');
  rmSync(join(folder, '.two'));
  expect(entries.isDue).toBe(true);
  expect(excess()).toEqual([]);
  expect([entries.isEmpty, entries.isDue]).toEqual([false, false]);
  nowMs = 5000;
  expect(entries.isDue).toBe(true);
  rmSync(join(folder, '.one'));
  expect([excess(), entries.isEmpty]).toEqual([[], true]);
});

it('R21: the largest file is refused when there are too many bytes; a sparse file counts by its blocks on disk', () => {
  put('.small', 1000);
  put('.large', maxUnfinishedBytes / 2);
  put('.larger', maxUnfinishedBytes / 2 + 4096);
  put('.sparse');
  truncateSync(join(folder, '.sparse'), 2 ** 40);
  expect(excess()).toEqual([`.larger: more than ${maxUnfinishedBytes} bytes of unfinished or hidden files`]);
});

it('R21: too many names make a check due at once, which refuses the excess', () => {
  expect(excess()).toEqual([]);
  for (let index = 0; index <= maxUnfinishedEntries; index += 1) put(`.f${index}`);
  expect(entries.isDue).toBe(true);
  expect(excess()).toEqual([expect.stringContaining(`more than ${maxUnfinishedEntries} unfinished or hidden files`)]);
});

it('R21: a folder counts with everything in it, and one that is too deep is refused', () => {
  mkdirSync(join(folder, 'open/inner'), { recursive: true });
  for (let index = 0; index < maxUnfinishedEntries; index += 1) writeFileSync(join(folder, `open/inner/f${index}`), '');
  entries.add(Buffer.from('open'));
  mkdirSync(join(folder, `.deep${'/d'.repeat(40)}`), { recursive: true });
  entries.add(Buffer.from('.deep'));
  expect(excess().map((one) => one.split(':')[0])).toEqual(expect.arrayContaining(['open', '.deep']));
});

it('R21: the key of a refused file stays the same as long as the file exists', () => {
  put('.large', maxUnfinishedBytes + 4096);
  const [first] = entries.check();
  entries.add(Buffer.from('.large'));
  expect(entries.check()).toEqual([first]);
});
