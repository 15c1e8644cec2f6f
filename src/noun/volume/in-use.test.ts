import { expect, it } from 'vitest';
import { inUse } from './in-use.ts';

it.each<[string, readonly string[], string | null, string]>([
  ['of the user itself', ['ada/box', 'ada/other'], 'ada', 'carrel rm box other'],
  ['of other users', ['bob/box', 'eve/one', 'bob/two'], null, 'carrel --user bob rm box two; carrel --user eve rm one'],
  ['of both', ['ada/box', 'bob/one'], 'ada', 'carrel rm box; carrel --user bob rm one'],
  ['without a user', ['hub'], 'ada', 'carrel rm hub'],
])('a volume that sandboxes %s have says which command removes them', (_, users, owner, command) => {
  const fault = inUse('carrel-home-1', users, owner);
  expect(fault.code).toBe('conflict');
  expect(fault.message).toBe(`carrel-home-1 is in use by ${users.join(', ')}`);
  const commands = fault.hint!.replace(/^[^:]*: /, '').replace(/\. Stopping.*$/, '');
  expect(commands.split('; ').sort()).toEqual(command.split('; ').sort());
});
