import { expect, it } from 'vitest';
import { createMemoryStore } from '../../../../../test/fakes/store/memory.ts';
import { eventsAfter } from './feed.ts';

it('a user gets all of their events, however many events of others are between them', async () => {
  const store = createMemoryStore();
  const value = { name: 'x', slot: 0, createdAt: '' };
  let row = store.insert(
    { kind: 'user', id: 'x', owner: '', name: 'x', value },
    { at: '', type: 'user.added', subject: 'x', data: { user: 'bob' } },
  );
  const write = (user: string) => {
    row = store.update(row, value, { at: '', type: 'user.seen', subject: 'x', data: { user } });
  };
  for (let n = 0; n < 3000; n += 1) write('ann');
  write('bob');
  write('bob');
  const bob = { name: 'bob', isOwner: false };
  expect((await eventsAfter(store, bob)).map(({ seq }) => seq)).toEqual([1, 3002, 3003]);
  expect((await eventsAfter(store, bob, 1, 1)).map(({ seq }) => seq)).toEqual([3002]);
  expect(await eventsAfter(store, bob, 0, 0)).toEqual([]);
  expect(await eventsAfter(store, { name: 'ann', isOwner: true }, 0, 5000)).toHaveLength(1000);
});
