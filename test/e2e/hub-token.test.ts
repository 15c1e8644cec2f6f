/** Tokens for the hub, from the command line. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Installation } from '../harness/installation.ts';

let carrel: Installation;

beforeAll(async () => {
  carrel = new Installation();
  for (const name of ['shop', 'store']) await carrel.ok('project', 'add', carrel.folder(name));
});
afterAll(() => carrel.dispose());

interface Listed {
  readonly id: string;
  readonly projects: unknown;
  readonly groups: readonly string[];
}

it('hub token prints the token alone, ls shows what it grants, rm revokes it, and the audit log records each', async () => {
  const made = await carrel.run([
    'hub',
    'token',
    '--project',
    'shop,store',
    '--tools',
    'files,swarm',
    '--expires',
    '2h',
  ]);
  expect(made).toMatchObject({ exitCode: 0, stderr: '', stdout: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+\n$/) });
  const [token] = await carrel.json<Listed[]>('hub', 'token', 'ls');
  expect(token).toMatchObject({ projects: ['shop', 'store'], groups: ['files', 'swarm'], usedAt: null });
  expect(await carrel.ok('hub', 'token', 'ls')).toMatch(/LAST USED\n\w{16} +shop,store +files,swarm +\S+Z +never\n$/);
  expect(await carrel.ok('hub', 'token', 'rm', token!.id)).toBe(`${token!.id}\n`);
  expect(await carrel.json('hub', 'token', 'ls')).toEqual([]);
  const log = await carrel.ok('audit');
  expect(log).toMatch(new RegExp(`token\\.create ${token!.id} ok .*projects=\\["shop","store"\\]`));
  expect(log).toMatch(new RegExp(`token\\.remove ${token!.id} ok`));
  expect(log).not.toContain(made.stdout.trim().split('.')[2]);
});

it('hub token list and remove are other spellings of ls and rm', async () => {
  await carrel.ok('hub', 'token', '--project', 'shop');
  const [token] = await carrel.json<Listed[]>('hub', 'token', 'list');
  expect(await carrel.ok('hub', 'token', 'remove', token!.id)).toBe(`${token!.id}\n`);
  expect(await carrel.json('hub', 'token', 'ls')).toEqual([]);
});

it('hub token rm --all revokes all tokens of the user and removes the key', async () => {
  await carrel.ok('hub', 'token', '--project', '*');
  await carrel.ok('hub', 'token', '--project', 'shop');
  await carrel.ok('user', 'add', 'bob');
  await carrel.ok('--user', 'bob', 'hub', 'token', '--project', '*');
  expect(readdirSync(join(carrel.home, 'hub-keys'))).toHaveLength(2);
  expect(await carrel.json('hub', 'token', 'rm', '--all')).toHaveLength(2);
  expect(readdirSync(join(carrel.home, 'hub-keys'))).toHaveLength(1);
  expect(await carrel.json('--user', 'bob', 'hub', 'token', 'ls')).toHaveLength(1);
});

it.each([
  [['--project', 'shop,nosuch'], 5, 'no project nosuch'],
  [['--project', ''], 2, '--project'],
  [['--project', 'shop', '--tools', 'files,admin'], 2, 'there is no group "admin"'],
  [['--project', 'shop', '--expires', '8'], 2, '--expires'],
  [['--project', 'shop', '--expires', '9999d'], 2, 'at most 366 days'],
  [[], 2, 'takes --project'],
  [['rm'], 2, 'takes --project'],
  [['rm', '0123456789abcdef', '--all'], 2, 'takes --project'],
  [['rm', '0123456789abcdef'], 5, 'no token'],
  [['ls', 'x'], 2, 'takes --project'],
  [['drop'], 2, 'takes --project'],
])('hub token %j is refused', async (args, exitCode, message) => {
  expect(await carrel.run(['hub', 'token', ...args])).toMatchObject({
    exitCode,
    stdout: '',
    stderr: expect.stringContaining(message),
  });
});
