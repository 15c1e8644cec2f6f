import { describe, expect, test } from 'vitest';
import { table } from '../../noun/cli.ts';
import { type Candidates, candidatesAt } from './candidates.ts';
import { flagsOf } from './completion.ts';
import { shells, wordsOf } from './script.ts';

const shown = table.commands.filter(({ hidden }) => !hidden);

/** Names that the daemon would have. */
const names: Readonly<Record<string, readonly string[]>> = {
  sandboxes: ['ada', 'bob'],
  secrets: ['KEY'],
  users: ['ann'],
  volumes: ['cache'],
  agents: ['claude', 'codex'],
};
const list = async (kind: string, of = '') => names[kind] ?? [`${kind}-of-${of}`];
const after = (...typed: readonly string[]) => candidatesAt(table, typed, list);
const words = async (...typed: readonly string[]) => (await after(...typed)).words.map(({ word }) => word);

describe.each(shown.map(({ name, options }) => ({ name, options })))('carrel $name', ({ name, options = [] }) => {
  test('is offered word by word, after help too, and has its options', async () => {
    const parts = name.split(' ');
    for (const [place, part] of parts.entries()) {
      expect(await words(...parts.slice(0, place), '')).toContain(part);
      expect(await words('help', ...parts.slice(0, place), '')).toContain(part);
    }
    const visible = options.filter(({ hidden }) => !hidden).map((option) => flagsOf(option).long);
    expect(await words(...parts, '--')).toEqual(expect.arrayContaining([...visible, '--json', '--home']));
  });
});

test('hidden commands and options are not offered', async () => {
  expect((await words('')).filter((word) => word.startsWith('_'))).toEqual([]);
  expect(await words('create', '--d')).toEqual(['--disk']);
});

test('words are those that begin like the typed one', async () => {
  expect(await words('us')).toEqual(['user']);
  expect(await words('user', 'a')).toEqual(['add']);
  expect(await words('user', 'list', '--js')).toEqual(['--json']);
  expect(await words('nosuch', '')).toEqual([]);
});

test('after the name of a sandbox, files are offered if the command takes paths, else nothing', async () => {
  expect(await words('diff', '')).toEqual(['ada', 'bob']);
  expect(await after('diff', 'ada', '')).toEqual({ words: [], paths: 'files', goesOn: false });
  expect(await after('undo', 'ada', '')).toEqual({ words: [], paths: null, goesOn: false });
  expect(await words('rm', 'ada', '')).toEqual(['bob']);
});

test('an argument or option completes to names of its kind, to its choices, or to files', async () => {
  expect(await words('secret', 'rm', '')).toEqual(['KEY']);
  expect(await words('secret', 'rm', 'KEY', '')).toEqual([]);
  expect(await words('run', '--secret', '')).toEqual(['KEY']);
  expect(await words('run', '--volume', 'c')).toEqual(['cache']);
  expect(await words('swarm', 'run', '--agent', 'cl')).toEqual(['claude']);
  expect(await words('run', '--engine', '')).toEqual(['local', 'docker']);
  expect(await words('run', '--engine=d')).toEqual(['--engine=docker']);
  expect(await after('run', '--env-file', '')).toMatchObject({ words: [], paths: 'files' });
  expect(await after('--home', '')).toMatchObject({ words: [], paths: 'folders' });
  expect(await words('--user', '')).toEqual(['ann']);
  expect(await words('agent', 'login', 'cl')).toEqual(['claude']);
});

test('values of options are no arguments, and -n has a value in some commands only', async () => {
  expect(await words('stop', '--grace', '5', '')).toEqual(['ada', 'bob']);
  expect(await words('logs', '-n', '5', '')).toEqual(['ada', 'bob']);
  expect(await words('logs', '-fn', '5', '')).toEqual(['ada', 'bob']);
  expect(await after('apply', '-n', 'ada', '')).toMatchObject({ words: [], paths: 'files' });
  expect(await words('--home', 'ls', 'user', 'a')).toEqual(['add']);
});

test('an option is offered once, unless it may be repeated', async () => {
  expect(await words('logs', '-f', '--f')).toEqual([]);
  expect(await words('run', '--env', 'A=1', '--env')).toEqual(['--env', '--env-file']);
});

test('what the sandbox gets is completed as files', async () => {
  expect(await after('run', '.', '--', '')).toMatchObject({ words: [], paths: 'files' });
  expect(await after('exec', 'ada', '')).toMatchObject({ words: [], paths: 'files' });
  expect(await words('exec', 'ada', '--int')).toEqual(['--interactive']);
  expect(await after('exec', 'ada', 'ls', '--ver')).toMatchObject({ words: [], paths: 'files' });
  expect(await words('exec', '--cwd', '/tmp', '')).toEqual(['ada', 'bob']);
});

test('snapshots and files of the named sandbox are offered', async () => {
  expect(await words('restore', 'ada', '')).toEqual(['snapshots-of-ada']);
  expect(await words('restore', 'ada', '0001', '')).toEqual([]);
  expect(await after('cp', 'a')).toEqual({ words: [{ word: 'ada:', about: '' }], paths: 'files', goesOn: true });
  expect(await candidatesAt(table, ['cp', 'ada:/w'], async () => ['ada:/workspace/', 'ada:/x'])).toMatchObject({
    words: [{ word: 'ada:/workspace/' }],
    paths: null,
    goesOn: true,
  });
});

test('commands and options complete only to known kinds', () => {
  const kinds = [...Object.keys(table.names), 'sandbox', 'sandbox-files', 'sandbox-snapshots', 'files', 'places'];
  const named = shown.flatMap(({ completes, options = [] }) => [completes, ...options.map((one) => one.completes)]);
  expect(named.filter((kind) => typeof kind === 'string' && !kinds.includes(kind))).toEqual([]);
});

test.each([
  ['carrel ', ['']],
  ['carrel  ls  --js', ['ls', '--js']],
  ['HOME=/x FOO= carrel user ', ['user', '']],
  [`carrel run 'a b' "c $x \\" d" e\\ f`, ['run', 'a b', 'c $x " d', 'e f']],
  [`carrel run 'open`, ['run', 'open']],
  [`carrel run "open \\`, ['run', 'open ']],
  ['carrel $(reboot) `x', ['$(reboot)', '`x']],
  ['', []],
])('the line %j has the words %j', (line, typed) => {
  expect(wordsOf(line)).toEqual(typed);
});

test('broken and hostile words offer nothing and do not fail', async () => {
  const odd = [
    '\0',
    '-',
    '--',
    '--=',
    '=',
    ':',
    '::',
    '$(x)',
    '`',
    '"',
    "'",
    '\n',
    '\u001b[31m',
    '__proto__',
    '-\u{1f600}',
  ];
  for (const first of odd) {
    for (const second of [...odd, 'run', 'help', 'user']) {
      for (const [shell, { lines }] of shells) {
        const found = await after(first, second, '');
        const text = lines(found, [`carrel ${first} ${second} `, ' \t\n"\'@><=;|&(:']).join('\n');
        expect(text, shell).not.toMatch(/\u001b|\$\(|`/);
      }
    }
  }
});

const made: Candidates = {
  words: [
    { word: 'ada:/a', about: '' },
    { word: 'ada:b', about: 'a file: here' },
  ],
  paths: 'files',
  goesOn: true,
};

test('each shell gets its own form: bash only the end of a word that it takes apart', () => {
  const of = (shell: string, passed: readonly string[]) => shells.get(shell)!.lines(made, passed);
  expect(of('bash', ['carrel cp ada:', ' \t\n:='])).toEqual(['default nospace', '/a', 'b']);
  expect(of('bash', ['carrel cp ada:', ' '])).toEqual(['default nospace', 'ada:/a', 'ada:b']);
  expect(of('zsh', ['cp', 'ada:'])).toEqual(['files nospace', 'ada\\:/a', 'ada\\:b:a file: here']);
  expect(of('fish', ['cp', 'ada:'])).toEqual(['files nospace', 'ada:/a', 'ada:b\ta file: here']);
});

test('flagsOf parses short and long flags, and whether they take a value', () => {
  expect(flagsOf({ flags: '-f, --follow', summary: '' })).toEqual({ short: '-f', long: '--follow', takesValue: false });
  expect(flagsOf({ flags: '--tail <N>', summary: '' })).toEqual({ short: null, long: '--tail', takesValue: true });
});
