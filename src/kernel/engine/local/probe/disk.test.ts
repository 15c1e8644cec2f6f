import { expect, it } from 'vitest';
import { diskRows } from './disk.ts';

const disk = { folder: '/h', bytes: 100e9, freeBytes: 50e9, inodes: 1000, freeInodes: 500 };

it.each([
  [{}, 'ok', 'ok'],
  [{ freeBytes: 4.9e9 }, 'warning', 'ok'],
  [{ bytes: 2e9, freeBytes: 0.9e9 }, 'warning', 'ok'],
  [{ freeBytes: 0 }, 'warning', 'ok'],
  [{ freeInodes: 49 }, 'ok', 'warning'],
  [{ inodes: 0, freeInodes: 0 }, 'ok', 'ok'],
])('the free space and inodes of a disk are judged: %j', (change, space, inodes) => {
  expect(diskRows({ ...disk, ...change }).map(({ level }) => level)).toEqual([space, inodes]);
});

it('free space is reported in gigabytes', () => {
  expect(diskRows(disk)[0]!.detail).toBe('50.0 GB free of 100.0 at /h');
});
