import { expect, it } from 'vitest';
import { needsGroup } from './groups.ts';

it('the group of a socket is needed if another account owns it and not every account can write it', () => {
  expect(needsGroup({ uid: 65_534, mode: 0o140660 }, 0)).toBe(true);
  expect(needsGroup({ uid: 65_534, mode: 0o140666 }, 0)).toBe(false);
  expect(needsGroup({ uid: 0, mode: 0o140660 }, 0)).toBe(false);
});
