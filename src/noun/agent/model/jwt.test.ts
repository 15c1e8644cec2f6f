import { expect, it } from 'vitest';
import { claimIn } from './jwt.ts';

const token = (claims: string) => `e30.${Buffer.from(claims).toString('base64url')}.c2ln`;

it('claimIn returns the claim at a path', () => {
  const text = token('{"exp":7,"https://a.example/auth":{"account":"a1"}}');
  expect(claimIn(text, ['exp'])).toBe(7);
  expect(claimIn(text, ['https://a.example/auth', 'account'])).toBe('a1');
});

it.each(['', 'x', 'a.b', 'a.b.c', 'a.b.c.d', token('null'), token('[]'), token('{"exp"'), token('{"a":{}}')])(
  'claimIn returns undefined for %j',
  (text) => expect(claimIn(text, ['exp'])).toBeUndefined(),
);

it('claimIn ignores properties that every object inherits', () => {
  expect(claimIn(token('{"a":"x"}'), ['toString'])).toBeUndefined();
  expect(claimIn(token('{"a":"x"}'), ['a', 'length'])).toBeUndefined();
});
