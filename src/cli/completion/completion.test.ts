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

test('flags are read', () => {
  expect(flagsOf({ flags: '-f, --follow', summary: '' })).toEqual({ short: '-f', long: '--follow', takesValue: false });
  expect(flagsOf({ flags: '--tail <N>', summary: '' })).toEqual({ short: null, long: '--tail', takesValue: true });
});
