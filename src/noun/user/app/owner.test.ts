import { expect, it } from 'vitest';
import { createMemoryStore } from '../../../../test/fakes/store/memory.ts';
import { ensureOwner } from './owner.ts';

it('the first account that runs the daemon owns the installation, whichever account runs it later', () => {
  const store = createMemoryStore();
  expect([ensureOwner(store, '', 'ann'), ensureOwner(store, '', 'bob')]).toEqual(['ann', 'ann']);
  expect(store.list('user').map(({ value }) => [value.name, value.slot])).toEqual([['ann', 0]]);
});
