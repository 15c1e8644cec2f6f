import { expect, test } from 'vitest';
import { createMemoryStore } from '../../../../test/fakes/store/memory.ts';
import { allowAlways, alwaysAllowed, askAgain } from './allowances.ts';

test('allowed gates are kept for one user and one project, and can be taken back', () => {
  const store = createMemoryStore();
  const [mine, others] = ['me', 'them'].map((owner) => ({ store, owner, now: () => 'now' })) as [
    Parameters<typeof allowAlways>[0],
    Parameters<typeof allowAlways>[0],
  ];
  allowAlways(mine, '/p', ['executable']);
  allowAlways(mine, '/p', ['ci', 'executable']);
  expect(alwaysAllowed(mine, '/p')).toEqual(['ci', 'executable']);
  expect([alwaysAllowed(mine, '/q'), alwaysAllowed(others, '/p')]).toEqual([[], []]);
  askAgain(mine, '/p', ['ci', 'env']);
  askAgain(others, '/p', ['executable']);
  expect(alwaysAllowed(mine, '/p')).toEqual(['executable']);
  askAgain(mine, '/p', ['executable']);
  expect([alwaysAllowed(mine, '/p'), store.count('allowance')]).toEqual([[], 0]);
  expect(store.events(0, 10).map(({ data }) => data.kinds)).toEqual([
    ['executable'],
    ['ci', 'executable'],
    ['executable'],
    [],
  ]);
});
