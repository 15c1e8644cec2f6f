import { expect, it } from 'vitest';
import { type ProcessEntry, treeOf } from './process-tree.ts';

const entry = (pid: number, parent: number, rest: Partial<ProcessEntry> = {}): ProcessEntry => ({
  ...{ pid, parent, group: pid, session: pid, mark: null },
  ...rest,
});

it('treeOf finds descendants, members of their groups and sessions, and processes with the mark', () => {
  const all = [
    entry(1, 0),
    entry(10, 1),
    entry(11, 10),
    entry(12, 11),
    entry(13, 1, { group: 11 }),
    entry(14, 1, { session: 12 }),
    entry(15, 1, { mark: 'aa' }),
    entry(16, 15),
    entry(20, 1, { mark: 'bb' }),
    entry(21, 1),
  ];
  expect(treeOf(all, [10], 'aa').sort()).toEqual([10, 11, 12, 13, 14, 15, 16]);
  expect(treeOf(all, [], 'bb')).toEqual([20]);
  expect(treeOf(all, [], 'cc')).toEqual([]);
});
