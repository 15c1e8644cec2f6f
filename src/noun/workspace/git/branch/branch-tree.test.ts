import { expect, it } from 'vitest';
import { portions } from './branch-tree.ts';

it('objects are read in portions below the limit, and a larger one alone', () => {
  const sizes = new Map([
    ['a', 300],
    ['b', 300],
    ['huge', 5000],
    ['c', 700],
    ['d', 0],
    ['e', 900],
  ]);
  expect(portions(sizes, 1000)).toEqual([['a', 'b'], ['huge'], ['c', 'd'], ['e']]);
  expect(portions(new Map(), 1000)).toEqual([]);
});
