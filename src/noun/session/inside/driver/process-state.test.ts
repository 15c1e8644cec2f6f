import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isEnding, saysEnding, startTime } from './process-state.ts';

const own = readFileSync('/proc/self/stat', 'utf8')
  .replace(/^.*\) /, '')
  .split(' ');

test('a process that was killed or exits counts as ending before it is gone', () => {
  const having = (index: number, value: string) => saysEnding(own.with(index, value));
  expect(saysEnding(own)).toBe(false);
  expect([having(0, 'Z'), having(6, '4194372'), having(28, '256')]).toEqual([true, true, true]);
});

test('this process counts as running, and a pid without a process as ending', () => {
  expect([isEnding(process.pid), startTime(process.pid)]).toEqual([false, own[19]]);
  expect([isEnding(2 ** 30), startTime(2 ** 30)]).toEqual([true, null]);
});
