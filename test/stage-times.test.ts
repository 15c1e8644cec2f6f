import { expect, it } from 'vitest';
import { stageTimes } from './stage-times.ts';

it('a stage ends when the next one begins, and the last one now', () => {
  const stages = 'setup=1000,build=1041,tests on Node 24=1044,tests=1164';
  expect(stageTimes(stages, 1_700_999)).toBe(
    'setup 41 s, build 3 s, tests on Node 24 2 min 0 s, tests 8 min 56 s; in all 11 min 40 s',
  );
});
