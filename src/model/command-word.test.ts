import { expect, test } from 'vitest';
import { canonicalWords } from './command-word.ts';

test.each([
  ['list', 'ls'],
  ['remove a', 'rm a'],
  ['swarm list', 'swarm ls'],
  ['swarm remove list', 'swarm rm list'],
  ['volume cleanup', 'volume clean'],
  ['show list', 'show list'],
  ['rm remove list', 'rm remove list'],
  ['', ''],
])('%j is converted to %j', (typed, shown) => {
  expect(canonicalWords(typed.split(' '), ['swarm', 'volume']).join(' ')).toBe(shown);
});
