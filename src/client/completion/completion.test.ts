import { describe, expect, test } from 'vitest';
import { table } from '../../noun/cli.ts';
import { bash } from './bash.ts';
import { flagsOf, valuedFlags } from './completion.ts';
import { fish } from './fish.ts';
import { zsh } from './zsh.ts';

const shown = table.commands.filter(({ hidden }) => !hidden);
const offered = { ...table, commands: shown };

describe.each([
  ['bash', bash(offered), (long: string) => long],
  ['zsh', zsh(offered), (long: string) => long],
  ['fish', fish(offered), (long: string) => `-l ${long.slice(2)}`],
])('the completion script of %s', (_name, script, flag) => {
  test.each(shown.flatMap(({ name }) => name.split(' ')))('has %s', (word) => {
    expect(script).toMatch(new RegExp(`(^|[\\s'])${word}[\\s:)']`, 'm'));
  });

  test('has every option, asks carrel for names, and does not have hidden commands', () => {
    const options = shown.flatMap(({ options: all = [] }) => all.filter(({ hidden }) => !hidden));
    for (const option of options) expect(script).toContain(flag(flagsOf(option).long));
    expect(script).toContain('carrel __names');
    expect(script).not.toMatch(/^\s*__names\)/m);
  });
});

test('after the name of a sandbox, files are offered if the command takes paths, else nothing', () => {
  expect(bash(offered)).toMatch(/^ {4}diff\) .*; kind=sandbox-files ;;$/m);
  expect(zsh(offered)).toMatch(/^ {4}diff\) .* '1:sandbox:_carrel_sandboxes' '\*:path:_files' ;;$/m);
  expect(zsh(offered)).toMatch(/^ {4}undo\) .* '1:sandbox:_carrel_sandboxes' '\*:undo:' ;;$/m);
  expect(fish(offered)).toContain(`'__carrel_at diff' -F -a '(carrel __names 2>/dev/null)'`);
});

test('a command of two words has its own options, and its second word is offered after the first', () => {
  expect(bash(offered)).toMatch(/^ {4}user\) arguments='add ls token rm' ;;$/m);
  expect(bash(offered)).toMatch(/^ {4}user\\ add\) options='--uid --account .*' ;;$/m);
  expect(bash(offered)).toMatch(
    /^ {4}''\) arguments='up .* volume home secret user image compose share net .* demo init completion help' ;;$/m,
  );
  expect(zsh(offered)).toMatch(/^_carrel_user\(\) \{$/m);
  expect(zsh(offered)).toMatch(/^ {4}add\) _arguments '--uid/m);
  expect(fish(offered)).toContain(`-n '__carrel_at user' -a add`);
  expect(fish(offered)).toContain(`-n '__carrel_at help user' -a add`);
  expect(fish(offered)).toContain(`-n '__carrel_at user add' -l uid -r -F`);
});

test('an argument or option completes to names of its kind', () => {
  expect(bash(offered)).toMatch(/^ {4}secret\\ rm\) .*; kind=secrets ;;$/m);
  expect(bash(offered)).toMatch(/^ {4}run:--secret\) COMPREPLY=.*carrel __names secrets /m);
  expect(zsh(offered)).toMatch(/^ {4}run\) .*'\*--volume\[[^\]]*\]:value:_carrel_volumes'/m);
  expect(fish(offered)).toContain(`-n '__carrel_at user rm' -a '(carrel __names users 2>/dev/null)'`);
  expect(fish(offered)).toContain(`-l user -x -a '(carrel __names users 2>/dev/null)'`);
});

test('commands and options complete only to known kinds', () => {
  const kinds = [...Object.keys(table.names), 'sandbox', 'sandbox-files', 'sandbox-snapshots', 'files', 'places'];
  const named = shown.flatMap(({ completes, options = [] }) => [completes, ...options.map((one) => one.completes)]);
  expect(named.filter((kind) => typeof kind === 'string' && !kinds.includes(kind))).toEqual([]);
});

test('zsh defines every function that it calls', () => {
  const script = zsh(offered);
  const called = new Set(script.match(/_carrel_\w+/g));
  expect(called.size).toBeGreaterThan(2);
  for (const name of called) expect(script).toContain(`${name}() {`);
});

test('bash and fish do not count values of options as operands, and -n has a value in some commands only', () => {
  expect(bash(offered)).toMatch(/^ {6}\*:--home \| .*\*:--allow \| .*\*:-m.*\) \(\(i\+\+\)\) ;;$/m);
  expect(bash(offered)).toMatch(/ \| logs:-n \| /);
  expect(fish(offered)).toMatch(/^ +case .*'logs:-n' 'logs \*:-n'.*$/m);
  const named = valuedFlags(shown).filter(({ flag }) => flag === '-n');
  expect(named.map(({ command }) => command)).not.toContain('apply');
  expect(named.map(({ command }) => command)).not.toContain(null);
});

test('flagsOf parses short and long flags, and whether they take a value', () => {
  expect(flagsOf({ flags: '-f, --follow', summary: '' })).toEqual({ short: '-f', long: '--follow', takesValue: false });
  expect(flagsOf({ flags: '--tail <N>', summary: '' })).toEqual({ short: null, long: '--tail', takesValue: true });
});

test('snapshots and files of the named sandbox, and agents, are offered', () => {
  const [inBash, inZsh, inFish] = [bash(offered), zsh(offered), fish(offered)];
  expect(inBash).toMatch(/^ {4}restore\) .*; kind=sandbox-snapshots ;;$/m);
  expect(inBash).toContain('snapshots) arguments=$(carrel __names snapshots "$operand" 2>/dev/null) ;;');
  expect(inBash).toContain('carrel __names inside "$cur"');
  expect(inBash).toMatch(/^ {4}swarm\\ run:--agent\) .*carrel __names agents /m);
  expect(inZsh).toContain("'2:snapshot:_carrel_snapshots'");
  // Without (@) zsh joins the words, and the first element is a letter.
  expect(inZsh).toContain('(@)words[2,-1]:#-*}[1]}"');
  expect(inZsh).toContain('carrel __names inside "$PREFIX"');
  expect(inZsh).toContain('_carrel_agents() {');
  expect(inFish).toContain('carrel __names snapshots (commandline -opc)[3]');
  expect(inFish).toMatch(/at restore' -a '\(test \(count \(commandline -opc\)\) -lt 3; and carrel __names /);
  expect(inFish).toContain('carrel __names inside (commandline -ct)');
  expect(inFish).toContain("-l agent -x -a '(carrel __names agents 2>/dev/null)'");
});
