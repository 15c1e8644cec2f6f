import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Anchor, within } from './anchor.ts';
import { type ReadRefusal, readBounded, readBoundedBelow, readBoundedReal, readUpTo } from './bounded-read.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-read-'));
  file = join(folder, 'file');
});
afterEach(() => rmSync(folder, { recursive: true }));

const reason = (read: () => unknown) => {
  try {
    read();
  } catch (error) {
    return (error as ReadRefusal).reason;
  }
  return 'read';
};

it('a file is read whole, with the stat of what was read', () => {
  writeFileSync(file, 'x'.repeat(200_000));
  const { bytes, stat } = readBounded(file, 200_000)!;
  expect([bytes.length, stat.size]).toEqual([200_000, 200_000]);
});

it('an absent file is null, in an absent folder too', () => {
  expect(readBounded(file, 10)).toBeNull();
  expect(readBounded(join(folder, 'no/file'), 10)).toBeNull();
  expect(readBoundedReal(join(folder, 'no/file'), 10)).toBeNull();
});

it('a file larger than the limit is refused', () => {
  writeFileSync(file, '12345');
  expect(readBounded(file, 5)!.bytes.toString()).toBe('12345');
  expect(reason(() => readBounded(file, 4))).toBe('too_large');
});

// The files of the kernel show a size of 0, as a file does that grows after it was opened.
it('a file that grows past the limit while it is read is refused', () => {
  expect(readBounded('/proc/self/mountinfo', 1024 ** 2)!.stat.size).toBe(0);
  expect(reason(() => readBounded('/proc/self/mountinfo', 9))).toBe('too_large');
});

// This one shows a size of a page, as a file does that shrinks after it was opened.
it('a file that shrinks while it is read yields what is left, and nothing else', () => {
  const { bytes, stat } = readBounded('/sys/kernel/uevent_seqnum', 4096)!;
  expect(stat.size).toBe(4096);
  expect(bytes.toString()).toMatch(/^\d+\n$/);
});

it('a folder, a socket and a device are refused', async () => {
  mkdirSync(join(folder, 'sub'));
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(join(folder, 'socket'), resolve));
  const names = [...['sub', 'socket'].map((name) => join(folder, name)), '/dev/zero'];
  expect(names.map((path) => reason(() => readBounded(path, 10)))).toEqual(names.map(() => 'not_regular'));
  await new Promise((resolve) => server.close(resolve));
});

it('a link is refused as the last name, and in every component of a path below a folder', () => {
  mkdirSync(join(folder, 'real/deep'), { recursive: true });
  writeFileSync(join(folder, 'real/deep/file'), 'x');
  symlinkSync('real', join(folder, 'first'));
  symlinkSync('deep', join(folder, 'real/second'));
  symlinkSync('file', join(folder, 'real/deep/third'));
  expect(reason(() => readBounded(join(folder, 'real/deep/third'), 9))).toBe('link');
  for (const path of ['first/deep/file', 'real/second/file', 'real/deep/third', 'real/deep/file/x']) {
    expect([path, reason(() => readBoundedReal(join(folder, path), 9))]).toEqual([path, 'link']);
    expect(reason(() => within(Anchor.open(folder), (root) => readBoundedBelow(root, path, 9)))).toBe('link');
  }
  expect(readBoundedReal(join(folder, 'real/deep/file'), 9)!.bytes.toString()).toBe('x');
});

it('a read of an open file ends at its limit, even if the file never ends', () => {
  const fd = openSync('/dev/zero', 'r');
  expect(readUpTo(fd, 100_000)).toHaveLength(100_000);
  closeSync(fd);
});
