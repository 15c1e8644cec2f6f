import { expect, test } from 'vitest';
import { readIdSpace, rootSpace } from '../../../kernel/engine/local/ids.ts';
import { parseIdMap } from '../../../lib/sys/id-map.ts';
import { firstGroupId, groupIds } from './group-ids.ts';

const allIds = parseIdMap('0 0 4294967295');

test('as root, the group ids are the last ones of the range of the user', () => {
  const { base, perUser } = rootSpace;
  expect(firstGroupId(0, rootSpace, allIds)).toBe(base + perUser - groupIds);
  expect(firstGroupId(1, rootSpace, allIds)).toBe(base + 2 * perUser - groupIds);
});

test('without root, they are ids of the host that the subordinate range is mapped to', () => {
  const map = '0 1000 1\n1 100000 65536';
  const space = readIdSpace(map);
  expect(firstGroupId(0, space, parseIdMap(map))).toBe(100_000 + space.perUser - groupIds);
});
