import { describe, expect, it } from 'vitest';
import type { User } from '../../model/user.ts';
import { newToken, nextSlot, tokenOf, userOf } from './user.ts';

const user = (name: string, change: Partial<User> = {}): User => ({ name, slot: 0, createdAt: '', ...change });

describe('a token', () => {
  it('authenticates the user it was made for, and is not stored', () => {
    const [one, two] = [newToken(), newToken()];
    const users = [user('ann'), user('bob', { tokenHash: one.hash }), user('eve', { tokenHash: two.hash })];
    expect(userOf(one.token, users).name).toBe('bob');
    expect(userOf(two.token, users).name).toBe('eve');
    expect(JSON.stringify(users)).not.toContain(one.token.slice(10, 30));
  });

  it('of a removed user is refused', () => {
    const { token, hash } = newToken();
    expect(() => userOf(token, [user('bob', { tokenHash: hash, removedAt: 'then' })])).toThrow('not known');
  });

  it('is refused when it is a hash or malformed, and an empty one matches no user', () => {
    const { hash } = newToken();
    expect(() => tokenOf(`Bearer ${hash}`)).toThrow('not known');
    for (const text of [
      '',
      'Bearer ',
      'Bearer x',
      'Basic abc',
      `bearer ${newToken().token}`,
      `Bearer ${newToken().token}x`,
    ])
      expect(() => tokenOf(text)).toThrow('not known');
    expect(tokenOf(undefined)).toBeNull();
  });
});

it('slots are never used twice', () => {
  expect(nextSlot([])).toBe(0);
  expect(nextSlot([user('a', { slot: 0 }), user('b', { slot: 4, removedAt: 'then' })])).toBe(5);
});
