import { expect, it } from 'vitest';
import { createMemoryStore } from '../../../../test/fakes/store/memory.ts';
import { agentIdOf, Users } from './users.ts';

function added(rootless: boolean) {
  const store = createMemoryStore();
  const users = new Users({
    ...{ store, owner: 'ann', sharedSocket: null, rootless, now: () => '', release: async () => {} },
  });
  users.add('bob', 1001);
  users.add('eve', null);
  return { store, users };
}

const accounts = ({ users }: ReturnType<typeof added>) =>
  ['ann', 'bob', 'eve'].map((name) => users.accountOf(users.actorOf(name)));

it('the owner may use folders of every account, another user only those of the account that was named', () => {
  expect(accounts(added(false))).toEqual(['any', 1001, null]);
});

it('without root only the owner may use folders, and all files belong to the account of the daemon', () => {
  const { store, users } = added(true);
  expect(accounts({ store, users })).toEqual(['any', null, null]);
  expect(agentIdOf({ store, rootless: true }, 'bob')).toBeNull();
});

it('files of agents have a host id of their own for each user', () => {
  const { store } = added(false);
  const ids = ['bob', 'eve', 'unknown'].map((name) => agentIdOf({ store, rootless: false }, name));
  expect(ids).toEqual([expect.any(Number), expect.any(Number), null]);
  expect(ids[0]).not.toBe(ids[1]);
});
