import { expect, it } from 'vitest';
import { parseSettings } from './author.ts';

it('of several values of user.name and user.email in git config the last one counts', () => {
  const text = 'user.name\nGlobal\0user.email\na@b.c\0user.name\nOf the project\0';
  expect(parseSettings(text)).toEqual({ name: 'Of the project', email: 'a@b.c' });
  expect(parseSettings('')).toEqual({});
});
