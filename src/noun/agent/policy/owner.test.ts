import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { table } from '../../cli.ts';
import { decideText } from './decide.ts';
import { type OwnerRule, readOwnerRules } from './owner.ts';

const groups = table.groups.map(({ name }) => name);
let root: string;
let cwd: string;

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'carrel-policy-')));
  cwd = join(root, 'project');
  mkdirSync(join(cwd, 'sub'), { recursive: true });
});
afterAll(() => rmSync(root, { recursive: true }));

function on(text: string, rules: readonly OwnerRule[]) {
  return decideText(text, rules, { cwd, programs: [], groups });
}

describe('the rules of the owner', () => {
  const rules: OwnerRule[] = [
    { decision: 'allow', command: ['git', 'status'], flags: ['--short'] },
    { decision: 'allow', command: ['npm', 'test'], args: 'paths' },
    { decision: 'allow', command: ['echo'], args: 'any' },
    { decision: 'deny', command: ['carrel', 'rm'], reason: 'never remove' },
    { decision: 'allow', command: ['carrel', 'rm'], args: 'any' },
    { decision: 'ask', command: ['carrel', 'ls'] },
  ];

  test.each<[string, string]>([
    ['git status', 'allow'],
    ['git status --short', 'allow'],
    ['git status --porcelain', 'ask'],
    ['git status x', 'ask'],
    ['git', 'ask'],
    ['npm test ./sub', 'allow'],
    ['npm test .', 'allow'],
    ['npm test ./sub/new.test.ts', 'allow'],
    ['npm test ..', 'ask'],
    ['npm test ./../x', 'ask'],
    ['npm test /etc', 'ask'],
    ['npm test sub', 'ask'],
    ['npm test user/repository', 'ask'],
    ['npm test https://evil.test/x', 'ask'],
    ['npm test git@evil.test:x', 'ask'],
    ['npm test ./a:b', 'ask'],
    ['echo a b', 'allow'],
    ['echo -n', 'ask'],
    ['echo a > b', 'ask'],
    ['carrel rm a', 'deny'],
    ['carrel rm --force a', 'deny'],
    ['carrel ls', 'ask'],
    ['carrel status', 'allow'],
  ])('decide on %s: %s', (text, decision) => {
    expect(on(text, rules).decision).toBe(decision);
  });

  test('give their reason', () => {
    expect(on('carrel rm a', rules)).toEqual({ decision: 'deny', rule: 'owner: carrel rm', reason: 'never remove' });
  });

  test.each(['carrel remove a', 'carrel --json rm a', 'carrel --json remove a', '/opt/carrel/bin/carrel rm a'])(
    'a rule for carrel rm covers %s',
    (text) => {
      const context = { cwd, programs: ['/opt/carrel/bin/carrel'], groups };
      expect(decideText(text, rules, context)).toMatchObject({ decision: 'deny', rule: 'owner: carrel rm' });
    },
  );

  test('a rule with an alias covers the command, and an argument is not read as an alias', () => {
    const named: OwnerRule[] = [
      { decision: 'allow', command: ['carrel', 'secret', 'list'] },
      { decision: 'allow', command: ['carrel', 'inspect', 'list'] },
    ];
    expect(on('carrel secret ls', named).decision).toBe('allow');
    expect(on('carrel secret list', named).decision).toBe('allow');
    expect(on('carrel inspect ls', named).decision).toBe('ask');
  });
});

describe('policy.yaml', () => {
  async function read(content: string | null, prepare: (path: string, home: string) => void = () => {}, from = cwd) {
    const home = mkdtempSync(join(root, 'home-'));
    const path = join(home, 'policy.yaml');
    if (content !== null) writeFileSync(path, content, { mode: 0o600 });
    prepare(path, home);
    return readOwnerRules(home, from);
  }
  const good = 'rules:\n  - {decision: deny, command: [git, push]}\n';

  test('is read, and is optional', async () => {
    expect(await read(good)).toEqual({ rules: [{ decision: 'deny', command: ['git', 'push'] }] });
    expect(await read(null)).toEqual({ rules: [] });
  });

  test.each([
    ['rules[0].decison: is not a known field', 'rules:\n  - {decison: deny, decision: deny, command: [a]}'],
    ['rules[0].command: must not be empty', 'rules:\n  - {decision: deny, command: []}'],
    ['rules: is missing', '{}'],
    ['must be an object', '- a'],
    ['must be an object', ''],
    ['policy.yaml:1:9: ', 'rules: [*a]'],
    ['policy.yaml:1:9: ', 'rules: ['],
    ['rules[0].command[0]: must be text', 'rules:\n  - {decision: deny, command: [1]}'],
  ])('is not used if it cannot be parsed: %s', async (reason, content) => {
    expect(await read(content)).toMatchObject({ unusable: expect.stringContaining(reason) });
  });

  test.each<[string, (path: string, home: string) => void]>([
    ['can be written by others', (path) => chmodSync(path, 0o620)],
    ['can be written by others', (_, home) => chmodSync(home, 0o777)],
    [
      'cannot be read',
      (path) => {
        rmSync(path);
        symlinkSync('/etc/hostname', path);
      },
    ],
    [
      'is not a regular file of at most 256 KiB',
      (path) => {
        rmSync(path);
        mkdirSync(path);
      },
    ],
    ...(process.getuid?.() === 0
      ? [['belongs to another account', (path: string) => chownSync(path, 1234, 1234)] as [string, (p: string) => void]]
      : []),
  ])('is not used if it %s', async (reason, prepare) => {
    expect(await read(good, prepare)).toMatchObject({ unusable: expect.stringContaining(reason) });
  });

  test('is not used if the working folder contains the home', async () => {
    expect(await read(good, undefined, root)).toMatchObject({
      unusable: expect.stringContaining('inside the working'),
    });
    expect(await read(good, undefined, '/')).toMatchObject({ unusable: expect.stringContaining('inside the working') });
  });
});
