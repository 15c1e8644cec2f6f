import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readUpTo } from './read-up-to.ts';

test('a read ends at its bound, also in a file whose size is no bound at all', () => {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-read-'));
  const file = join(folder, 'file');
  writeFileSync(file, 'x'.repeat(200_000));
  const read = (path: string, most: number) => {
    const fd = openSync(path, 'r');
    try {
      return readUpTo(fd, most).length;
    } finally {
      closeSync(fd);
    }
  };
  expect([read(file, 10), read(file, 150_000), read(file, 1_000_000)]).toEqual([10, 150_000, 200_000]);
  // Its size is 0, and it never ends.
  expect(read('/dev/zero', 100_000)).toBe(100_000);
  rmSync(folder, { recursive: true });
});
