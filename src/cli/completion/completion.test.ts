import { describe, expect, test } from 'vitest';
import { commands } from '../commands.ts';
import { bash } from './bash.ts';
import { fish } from './fish.ts';
import { flagsOf } from './word.ts';
import { zsh } from './zsh.ts';

const shown = commands.filter(({ hidden }) => !hidden);

describe.each([
  ['bash', bash(shown), (long: string) => long],
  ['zsh', zsh(shown), (long: string) => long],
  ['fish', fish(shown), (long: string) => `-l ${long.slice(2)}`],
])('%s', (_name, script, flag) => {
  test.each(shown.map(({ name }) => name))('knows %s', (name) => {
    expect(script).toMatch(new RegExp(`(^|[\\s'])${name}[\\s:)']`, 'm'));
  });

  test('knows every option, asks for names, and hides what is hidden', () => {
    const options = shown.flatMap(({ options: all = [] }) => all.filter(({ hidden }) => !hidden));
    for (const option of options) expect(script).toContain(flag(flagsOf(option).long));
    expect(script).toContain('carrel __names');
    expect(script).not.toMatch(/^\s*__names\)/m);
  });
});

test('after the name of a sandbox come files, or nothing', () => {
  expect(bash(shown)).toMatch(/^ {4}diff\) .*; kind=sandbox-files ;;$/m);
  expect(zsh(shown)).toMatch(/^ {4}diff\) .* '1:sandbox:_carrel_sandboxes' '\*:path:_files' ;;$/m);
  expect(zsh(shown)).toMatch(/^ {4}undo\) .* '1:sandbox:_carrel_sandboxes' '\*:undo:' ;;$/m);
  expect(fish(shown)).toContain(`'__fish_seen_subcommand_from diff' -F -a '(carrel __names 2>/dev/null)'`);
});

test('bash takes no value of an option for an operand, and no flag has one here and none there', () => {
  expect(bash(shown)).toMatch(/^ {6}--home \| .*--allow \| .*-m.*\) \(\(i\+\+\)\) ;;$/m);
  const all = shown.flatMap(({ options = [] }) => options.map(flagsOf));
  for (const { long, short, takesValue } of all) {
    const same = all.filter((other) => other.long === long || (short !== null && other.short === short));
    expect(same.every((other) => other.takesValue === takesValue)).toBe(true);
  }
});

test('flags are read', () => {
  expect(flagsOf({ flags: '-f, --follow', summary: '' })).toEqual({ short: '-f', long: '--follow', takesValue: false });
  expect(flagsOf({ flags: '--tail <N>', summary: '' })).toEqual({ short: null, long: '--tail', takesValue: true });
});
