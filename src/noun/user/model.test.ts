import { describe, expect, it } from 'vitest';
import { checkSecretName, checkSecretValue, maxSecretBytes } from './model.ts';

describe('a name for a secret', () => {
  it.each(['a', '0', 'API_KEY', 'id_ed25519.pub', 'a-b', 'x'.repeat(64)])('may be %s', (name) => {
    expect(checkSecretName(name)).toBe(name);
  });
  it.each(['', '.', '..', '.new', '-a', '_a', 'a/b', '../a', 'a b', 'a\n', 'a\0', 'ä', 'x'.repeat(65)])(
    'may not be %j',
    (name) => {
      expect(() => checkSecretName(name)).toThrow('is not a name for a secret');
    },
  );
});

describe('a value', () => {
  it.each([1, maxSecretBytes])('of %i bytes is accepted', (bytes) => checkSecretValue('a', Buffer.alloc(bytes)));
  it.each([0, maxSecretBytes + 1])('of %i bytes is refused', (bytes) => {
    expect(() => checkSecretValue('a', Buffer.alloc(bytes))).toThrow('the value of secret a is');
  });
});
