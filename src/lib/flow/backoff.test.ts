import { expect, it } from 'vitest';
import { Backoff } from './backoff.ts';

it('a backoff allows the first retry at once and doubles the wait after each further failure, up to 30 s', () => {
  const backoff = new Backoff();
  const waits = Array.from({ length: 10 }, () => {
    backoff.failed(1000);
    return backoff.waitMs(1000);
  });
  expect(waits).toEqual([0, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  expect(backoff.waitMs(31_000)).toBe(0);
});

it('a backoff starts anew after a success', () => {
  const backoff = new Backoff();
  for (let i = 0; i < 5; i++) backoff.failed(0);
  backoff.succeeded();
  expect([backoff.failures, backoff.waitMs(0)]).toEqual([0, 0]);
});

it('a backoff does not lengthen the wait after the maximum number of failures', () => {
  const backoff = new Backoff();
  for (let failures = 0; failures < 9; failures += 1) backoff.failed(0, 3);
  expect(backoff.waitMs(0)).toBe(1000);
});
