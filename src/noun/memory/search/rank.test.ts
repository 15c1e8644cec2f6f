import { expect, test } from 'vitest';
import { fuse } from './rank.ts';

const others = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index);

test('an item high in both orders comes first, and one low in both comes after the best item of one order', () => {
  const low = 900;
  const text = [1, ...others(100, 30), low];
  const vectors = [1, 2, ...others(200, 30), low];
  const joined = fuse({ text, vectors }, 100);
  const rank = (item: number) => joined.findIndex((one) => one.item === item);
  expect(joined[0]).toMatchObject({ item: 1, orders: ['text', 'vectors'] });
  expect(rank(2)).toBeLessThan(rank(low));
});

test('an empty order does not change the other one', () => {
  expect(fuse({ text: [], vectors: [3, 1, 2] }, 2).map(({ item }) => item)).toEqual([3, 1]);
});
