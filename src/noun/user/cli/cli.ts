/** The commands about users and their secrets. */
import type { Area, CommandEntry, GroupEntry, NameSources } from '../../../client/cli.ts';
import { userNamePattern } from '../../../model/user.ts';
import { secretNamePattern } from '../model.ts';

const groups: readonly GroupEntry[] = [
  { name: 'secret', summary: 'secrets, mounted into sandboxes as files' },
  { name: 'user', summary: 'users of this installation' },
];

const commands: readonly CommandEntry[] = [
  {
    name: 'secret set',
    summary: 'store or replace a secret; the value is read from a prompt or from stdin, without a final newline',
    args: '<NAME>',
    fields: { name: 'NAME' },
    options: [{ flags: '--file <FILE>', field: 'valueBase64', summary: 'read the value from a file, byte by byte' }],
    completes: 'secrets',
    examples: ['secret set ANTHROPIC_API_KEY < key', 'secret set ANTHROPIC_API_KEY --file key'],
    load: async () => (await import('./secret-commands.ts')).secretSet,
  },
  {
    name: 'secret ls',
    summary: 'list secrets without their values',
    examples: ['secret ls'],
    load: async () => (await import('./secret-commands.ts')).secretLs,
  },
  {
    name: 'secret rm',
    summary: 'remove a secret that no sandbox uses',
    args: '<NAME>',
    completes: 'secrets',
    examples: ['secret rm ANTHROPIC_API_KEY'],
    load: async () => (await import('./secret-commands.ts')).secretRm,
  },

  {
    name: 'user add',
    summary: 'add a user and print the token; it is shown only once',
    args: '<NAME>',
    fields: { name: 'NAME' },
    options: [
      {
        flags: '--uid <UID>',
        field: 'uid',
        summary: 'uid of the account whose directories the user may use as projects',
      },
      { flags: '--account <LOGIN>', summary: 'the same by login name' },
    ],
    examples: ['user add ann --account ann'],
    load: async () => (await import('./commands.ts')).userAdd,
  },
  {
    name: 'user ls',
    summary: 'list users',
    examples: ['user ls'],
    load: async () => (await import('./commands.ts')).userLs,
  },
  {
    name: 'user token',
    summary: 'replace the token of a user (default: yours) and print the new one',
    args: '[NAME]',
    fields: { name: 'NAME' },
    completes: 'users',
    examples: ['user token ann'],
    load: async () => (await import('./commands.ts')).userToken,
  },
  {
    name: 'user rm',
    summary: 'remove a user that has no sandboxes',
    args: '<NAME>',
    completes: 'users',
    examples: ['user rm ann'],
    load: async () => (await import('./commands.ts')).userRm,
  },
];

const names: NameSources = {
  secrets: {
    pattern: secretNamePattern,
    list: async ({ client, signal }) => (await client.call('GET /v1/secrets', { signal })).map(({ name }) => name),
  },
  users: {
    pattern: userNamePattern,
    list: async ({ client, signal }) => (await client.call('GET /v1/users', { signal })).map(({ name }) => name),
  },
};

export const user: Area = { heading: 'Storage and people:', groups, commands, names };
