/** Completion in real shells: each loads its script, and asks the built program at the cursor. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation } from '../harness/installation.ts';

let carrel: Installation;
let folder: string;
let empty: string;

beforeAll(async () => {
  carrel = new Installation();
  await carrel.ok('create', '--name', 'ada');
  await carrel.ok('create', '--name', 'bob');
  empty = carrel.folder('empty');
  folder = carrel.folder('here');
  mkdirSync(join(folder, 'project'));
  writeFileSync(join(folder, 'prompt.txt'), '');
});
afterAll(() => carrel.dispose());

function run(argv: readonly string[], home = carrel.home): string[] {
  const PATH = `${resolve('bin')}:${process.env.PATH}`;
  const env = { PATH, HOME: folder, CARREL_HOME: home, TERM: 'xterm' };
  const text = execFileSync(argv[0]!, argv.slice(1), { cwd: folder, env, encoding: 'utf8', timeout: 60_000 });
  return text.split('\n').filter((line) => line !== '');
}

/** Outside of a real completion bash has no `compopt`, so the test has one that prints. */
const inBash = `source <(carrel completion bash)
compopt() { echo "$2"; }
COMP_LINE=$1 COMP_POINT=\${#1} COMP_WORDBREAKS=$' \\t\\n"\\'@><=;|&(:'
_carrel
printf '%s\\n' "\${COMPREPLY[@]}"`;

/** Types into a terminal of zsh, with functions that print what the script hands to zsh. */
const inZsh = `autoload -U compinit; compinit -u -D
source <(carrel completion zsh)
_describe() { print -l -- "\${(@P)2%%:*}" "\${@[3,-1]}"; }
_files() { print -l files "$@"; }
compset() { PREFIX=\${PREFIX#*=}; }
words=("\${(@z)1}"); [[ $1 == *' ' ]] && words+=('')
CURRENT=$#words PREFIX=$words[-1]
_carrel || true`;

const inFish = 'carrel completion fish | source; complete -C $argv[1]';

const has = (shell: string) => process.env.PATH!.split(':').some((folder) => existsSync(join(folder, shell)));
const bash = (line: string, home?: string) => run(['bash', '--norc', '-c', inBash, 'bash', line], home);
const zsh = (line: string, home?: string) => run(['zsh', '-f', '-c', inZsh, 'zsh', line], home);
const fish = (line: string, home?: string) =>
  run(['fish', '--no-config', '-c', inFish, line], home).map((one) => one.replace(/\t.*/, ''));

describe.each([
  ['bash', bash],
  ['zsh', zsh],
  ['fish', fish],
])('%s', (shell, complete) => {
  const test = it.skipIf(!has(shell));

  test('offers commands, options and their values', () => {
    expect(complete('carrel us')).toEqual(['user']);
    expect(complete('carrel user ').toSorted()).toEqual(['add', 'ls', 'rm', 'token']);
    expect(complete('carrel stop --gr')).toEqual(['--grace']);
    expect(complete('carrel run --engine lo')).toEqual(['local']);
    expect(complete('carrel help vol')).toEqual(['volume']);
  });

  test('offers names that the daemon has', () => {
    expect(complete('carrel show ')).toEqual(['ada', 'bob']);
    expect(complete('carrel rm ada b')).toEqual(['bob']);
  });

  test('leaves files and folders to the shell', () => {
    const paths = { bash: ['default'], zsh: ['files'], fish: ['project/', 'prompt.txt'] };
    expect(complete('carrel run pr')).toEqual(paths[shell as keyof typeof paths]);
    const folders = { bash: ['dirnames'], zsh: ['files', '-/'], fish: ['project/'] };
    expect(complete('carrel --home p')).toEqual(folders[shell as keyof typeof folders]);
  });

  test('starts no daemon: without one there are no names', () => {
    expect(complete('carrel show ', empty)).toEqual([]);
    expect(complete('carrel us', empty)).toEqual(['user']);
    expect(existsSync(join(empty, 'carrel.db'))).toBe(false);
  });

  test.each(['carrel show "$(touch pwned)" ', 'carrel `touch pwned`', "carrel 'show a", 'carrel $(', 'carrel "'])(
    'runs nothing of the line %j',
    (line) => {
      complete(line);
      expect(existsSync(join(folder, 'pwned'))).toBe(false);
    },
  );
});

describe('bash', () => {
  it('gets the end of a word that it takes apart', () => {
    expect(bash('carrel cp ad')).toEqual(['default', 'nospace', 'ada:']);
    expect(bash('carrel cp ada:/etc/pass')).toEqual(['nospace', '/etc/passwd']);
    expect(bash('carrel run --engine=lo')).toEqual(['local']);
  });
});

it('a script that an older build wrote gets names as before', () => {
  expect(run(['carrel', '__names'])).toEqual(['ada', 'bob']);
  expect(run(['carrel', '__names', 'nosuch'])).toEqual([]);
  expect(run(['carrel', '__names', 'inside', 'ada:/etc/pass'])).toContain('ada:/etc/passwd');
});

it('answers nothing to words that it does not understand', () => {
  for (const words of [[], ['tcsh', '--', 'ls'], ['bash'], ['bash', '--'], ['fish', '--', '\u001b', ''], ['zsh', '--']])
    expect(spawnSync(resolve('bin/carrel'), ['__complete', ...words], { encoding: 'utf8' }).stdout.trim()).toBe('');
});
