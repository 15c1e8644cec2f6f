import { expect, it } from 'vitest';
import { fastestGrowth } from './growth.ts';

const measured = (free: number, taken: Record<string, number>) => ({ free, taken: new Map(Object.entries(taken)) });

it('fastest growth is that of the sandbox that grew most, not of the largest', () => {
  expect(fastestGrowth(measured(100, { large: 500, small: 1 }), measured(40, { large: 510, small: 51 }))).toEqual({
    id: 'small',
    grown: 50,
  });
});

it('the largest of several growths counts if together they took most of the space', () => {
  expect(fastestGrowth(measured(100, {}), measured(0, { a: 30, b: 31, c: 30 }))?.id).toBe('b');
});

it('there is no growth if something else took the space, no space is gone, or no sandbox grew', () => {
  expect(fastestGrowth(measured(100, { a: 10 }), measured(0, { a: 40 }))).toBeNull();
  expect(fastestGrowth(measured(50, { a: 10 }), measured(50, { a: 40 }))).toBeNull();
  expect(fastestGrowth(measured(100, { a: 10 }), measured(0, { a: 5 }))).toBeNull();
});
