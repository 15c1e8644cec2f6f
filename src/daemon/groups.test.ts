import { expect, it } from 'vitest';
import { needsGroup } from './groups.ts';

it('a group is needed for a socket of another owner that not everyone can write', () => {
  expect(needsGroup({ uid: 65_534, mode: 0o140660 }, 0)).toBe(true);
  expect(needsGroup({ uid: 65_534, mode: 0o140666 }, 0)).toBe(false);
  expect(needsGroup({ uid: 0, mode: 0o140660 }, 0)).toBe(false);
});
