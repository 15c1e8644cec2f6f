import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Fault } from '../model/fault.ts';
import { table } from '../noun/cli.ts';
import { parse, splitCommand } from './program.ts';

async function parsed(...argv: string[]) {
  const seen: unknown[] = [];
  await parse(argv, async (entry, { args, options, command }, globals) => {
    seen.push({ name: entry.name, args, options, command, globals });
  });
  return seen[0];
}

async function refused(...argv: string[]): Promise<Fault> {
  const error = await parsed(...argv).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Fault);
  expect((error as Fault).code).toBe('invalid');
  return error as Fault;
}

test('the words after -- are the command, including options', async () => {
  expect(await parsed('run', '--name', 'a', '.', '--', 'npm', 'test', '--json', '--', '-x')).toEqual({
    ...{
      name: 'run',
      args: ['.'],
      options: { name: 'a' },
      command: ['npm', 'test', '--json', '--', '-x'],
      globals: {},
    },
  });
  expect(await parsed('run', '--', 'uname', '-a')).toMatchObject({ args: [], command: ['uname', '-a'] });
});

test('the command of exec follows its name, with or without --', async () => {
  const cases = [
    [['exec', 'a', 'git', 'log', '-n', '1', '--', 'x'], ['a'], {}, ['git', 'log', '-n', '1', '--', 'x']],
    [
      ['exec', '-ite', 'A=1', 'a', 'ls', '-e', 'b'],
      ['a'],
      { env: ['A=1'], interactive: true, tty: true },
      ['ls', '-e', 'b'],
    ],
    [['exec', '-eA=1', '--cwd=/x', 'a', '-T', 'ls'], ['a'], { env: ['A=1'], cwd: '/x', tty: false }, ['ls']],
    [['exec', 'a', '--env', 'A=1', '--', 'ls', '-la'], ['a'], { env: ['A=1'] }, ['ls', '-la']],
    [['--home', 'h', 'exec', 'a', 'sh', '--json'], ['a'], {}, ['sh', '--json']],
  ] as const;
  for (const [words, args, options, command] of cases)
    expect(await parsed(...words)).toMatchObject({ name: 'exec', args, options, command });
});

test('for other commands -- ends the options', async () => {
  expect(await parsed('rm', '--', 'a', '-b')).toMatchObject({ args: ['a', '-b'], command: [] });
  expect(splitCommand(['--home', 'run', 'rm', '--', 'x'])).toEqual([['--home', 'run', 'rm', '--', 'x'], []]);
});

test('global options are allowed before and after the command', async () => {
  const globals = { home: '/h', json: true };
  expect(await parsed('--home', '/h', '--json', 'ls')).toMatchObject({ name: 'ls', globals });
  expect(await parsed('ls', '--json', '--home=/h')).toMatchObject({ name: 'ls', globals });
  expect(await parsed('--user', 'bob', 'run', '--', 'x')).toMatchObject({ command: ['x'], globals: { user: 'bob' } });
  expect(await parsed('run', '--user', 'bob', '.', '--', 'x')).toMatchObject({
    ...{ args: ['.'], options: {}, globals: { user: 'bob' } },
  });
});

test('commands of two words are parsed with their arguments and options', async () => {
  const uid = { uid: '7' };
  expect(await parsed('user', 'add', 'bob', '--uid', '7')).toMatchObject({
    name: 'user add',
    args: ['bob'],
    options: uid,
  });
  expect(await parsed('--user', 'bob', 'volume', '--json', 'clean', 'a', 'b', '--no-backup')).toMatchObject({
    ...{ name: 'volume clean', args: ['a', 'b'], options: { backup: false }, globals: { user: 'bob', json: true } },
  });
  expect(await parsed('volume', 'clean', '-y', '--', '-x')).toMatchObject({
    ...{ args: ['-x'], options: { backup: true, yes: true }, command: [] },
  });
});

describe('the other spelling of a verb', () => {
  const verbs = { ls: 'list', rm: 'remove', clean: 'cleanup' };
  const pairs = table.commands.flatMap(({ name }) => {
    const words = name.split(' ');
    const other = verbs[words.at(-1) as keyof typeof verbs];
    return other === undefined ? [] : [[name, [...words.slice(0, -1), other]] as const];
  });

  test.each(pairs)('%s is also %j', async (name, words) => {
    const needed =
      table.commands
        .find((entry) => entry.name === name)!
        .args?.match(/</g)
        ?.map(() => 'x') ?? [];
    expect(await parsed('--json', ...words, ...needed)).toMatchObject({ name, args: needed });
  });

  test('is applied only to the verb, never to an argument', async () => {
    expect(await parsed('show', 'list')).toMatchObject({ name: 'show', args: ['list'] });
    expect(await parsed('rm', 'list', 'remove')).toMatchObject({ name: 'rm', args: ['list', 'remove'] });
    expect(await parsed('--user', 'list', 'swarm', 'remove', 'list')).toMatchObject({
      ...{ name: 'swarm rm', args: ['list'], globals: { user: 'list' } },
    });
  });

  test('is refused if the command does not exist in the first spelling', async () => {
    expect((await refused('image', 'cleanup')).message).toContain("'cleanup'");
  });
});

test('a secret value on the command line is refused', async () => {
  expect((await refused('secret', 'set', 'NAME', 'value')).message).not.toContain('value');
});

test('options can be repeated and joined, and have short forms', async () => {
  expect(await parsed('exec', '-it', 'a', '--env', 'A=1', '--env', 'B=2', '-w', '/x', '--', 'sh')).toMatchObject({
    args: ['a'],
    options: { interactive: true, tty: true, env: ['A=1', 'B=2'], cwd: '/x' },
  });
});

test('the options of apply and diff are parsed', async () => {
  const argv = ['apply', 'a', 'src', '--theirs', '--allow', 'ci,env', '--allow', 'all', '--branch', 'b', '-m', 'words'];
  expect(await parsed(...argv)).toMatchObject({
    args: ['a', 'src'],
    options: { theirs: true, allow: ['ci,env', 'all'], branch: 'b', message: 'words' },
  });
  expect(await parsed('diff', 'a', '--name-status', '--', '-x')).toMatchObject({
    args: ['a'],
    command: ['-x'],
    options: { nameStatus: true },
  });
});

describe('the parser refuses with a hint', () => {
  test.each([
    [['rnu'], 'Did you mean run?'],
    [['ls', '--jsom'], 'Did you mean --json?'],
    [['show'], 'carrel help show'],
    [['cp', 'a'], 'carrel help cp'],
    [['ls', 'extra'], 'carrel help ls'],
    [['run', '--name'], 'carrel help run'],
    [['run', '--mode', 'fuse', '--', 'x'], 'carrel help run'],
    [['merge', 'a'], 'carrel help merge'],
    [['restore', 'a'], 'carrel help restore'],
    [['undo', 'a', 'b'], 'carrel help undo'],
    [['run', 'npm', 'test'], 'the command to run follows after --'],
    [['claude', '.', 'fix', 'it'], 'arguments of the agent follow after --'],
    [['exec', '--', 'ls'], 'carrel help exec'],
    [['usr'], 'Did you mean user?'],
    [['user', 'ad'], 'Did you mean add?'],
    [['user', 'ad', '--json'], 'Did you mean add?'],
    [['volume', 'frobnicate'], 'carrel help volume'],
    [['user', 'add'], 'carrel help user add'],
    [['user', 'rm', 'a', 'b'], 'carrel help user rm'],
    [['volume', 'clean', '--yse'], 'Did you mean --yes?'],
    [['help', 'rnu'], 'Did you mean run?'],
    [['help', 'user', 'ad'], 'Did you mean add?'],
  ])('%j', async (argv, hint) => {
    expect((await refused(...argv)).hint).toContain(hint);
  });
});

describe('the output of the parser', () => {
  const output: Record<'stdout' | 'stderr', string> = { stdout: '', stderr: '' };

  beforeEach(() => {
    for (const name of ['stdout', 'stderr'] as const) {
      output[name] = '';
      vi.spyOn(process[name], 'write').mockImplementation((text) => {
        output[name] += text;
        return true;
      });
    }
  });

  afterEach(() => {
    vi.restoreAllMocks();
  });

  test('help shows all commands, a group, or one command', async () => {
    await parsed('help');
    expect(output.stdout).toMatch(
      /^Storage and people:\n {2}volume COMMAND +persistent [\s\S]*\n {2}user COMMAND +.*: add, ls, token, rm$/m,
    );
    expect(output.stdout.indexOf('Workspaces:')).toBeLessThan(output.stdout.indexOf('Storage and people:'));
    await parsed('help', 'user');
    expect(output.stdout).toMatch(/^Usage: carrel user COMMAND$/m);
    await parsed('help', 'user', 'add');
    expect(output.stdout).toMatch(/^Usage: carrel user add \[options\] <NAME>$/m);
    await parsed('user', 'rm', '--help');
    expect(output.stdout).toMatch(/^Usage: carrel user rm \[options\] <NAME>$/m);
    expect(output.stderr).toBe('');
  });

  test('help shows only the first spelling of a verb, also when asked for the other', async () => {
    await parsed('help', 'swarm', 'list');
    expect(output.stdout).toMatch(/^Usage: carrel swarm ls /);
    await parsed('help');
    await parsed('help', 'swarm');
    expect(output.stdout).not.toMatch(/\b(list|remove|cleanup)\b(?! [a-z])/);
  });

  test('help fits 80 columns', async () => {
    const groups = table.groups.map(({ name }) => name);
    for (const name of ['', ...groups, 'run', 'diff', 'claude', 'agent install', 'swarm run', 'hub token']) {
      output.stdout = '';
      await parsed('help', ...name.split(' ').filter((word) => word !== ''));
      // Text that users type is not wrapped.
      const isTyped = (line: string) => /^Usage: |^ {2}\S+( \S+)*$/.test(line);
      const wide = output.stdout.split('\n').filter((line) => line.length > 80 && !isTyped(line));
      expect(wide, name).toEqual([]);
    }
  });

  test('without a command a few commands are shown, which fit on a screen of 80 columns', async () => {
    const { message, hint = '' } = await refused();
    expect(message).toBe('no command');
    expect(hint).toMatch(/^carrel claude \. [\s\S]*\ncarrel help /);
    expect(hint.split('\n').length).toBeLessThan(20);
    expect(Math.max(...hint.split('\n').map((line) => line.length))).toBeLessThanOrEqual(72);
    expect(output).toEqual({ stdout: '', stderr: '' });
  });

  test('a group without a command is an error with the help of the group and a hint', async () => {
    const fault = await refused('user');
    expect(fault.toJSON()).toMatchObject({
      message: 'carrel user needs one of add, ls, token, rm',
      hint: 'carrel help user',
    });
    expect(output.stderr).toMatch(/^Usage: carrel user COMMAND$/m);
    expect(output.stdout).toBe('');
  });

  test('with --json no help is printed on stderr', async () => {
    await refused('--json', 'user');
    expect(output).toEqual({ stdout: '', stderr: '' });
  });
});

test('every command has a module that performs it', async () => {
  for (const entry of table.commands) expect(typeof (await entry.load())).toBe('function');
});

test.each(table.commands.filter(({ name }) => /(^| )(ls|rm|clean)$/.test(name)))(
  '$name can be typed with another spelling',
  async ({ name, args = '' }) => {
    const other = name
      .replace(/ls$/, 'list')
      .replace(/rm$/, 'remove')
      .replace(/clean$/, 'cleanup')
      .split(' ');
    const values = [...args.matchAll(/</g)].map(() => 'x');
    expect(await parsed(...other, ...values)).toMatchObject({ name });
  },
);
