import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { resizeTwice } from './resize.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('sizes reach the engine one after the other, and only the last one is sent again', async () => {
  const sent: number[] = [];
  const ends: (() => void)[] = [];
  const resize = resizeTwice((rows) => {
    sent.push(rows);
    return new Promise((resolve) => void ends.push(resolve));
  });
  const both = Promise.all([resize(24, 80), resize(23, 80)]);
  await vi.advanceTimersByTimeAsync(0);
  expect(sent).toEqual([24]);
  ends[0]!();
  await vi.advanceTimersByTimeAsync(0);
  expect(sent).toEqual([24, 23]);
  ends[1]!();
  await both;
  await vi.advanceTimersByTimeAsync(1000);
  expect(sent).toEqual([24, 23, 23]);
});

it('a size that the engine refuses does not block the next one', async () => {
  const sent: number[] = [];
  const resize = resizeTwice(async (rows) => {
    sent.push(rows);
    if (rows === 24) throw new Error('refused');
  });
  const first = resize(24, 80);
  const second = resize(23, 80);
  await expect(first).rejects.toThrow('refused');
  await second;
  expect(sent).toEqual([24, 23]);
});
