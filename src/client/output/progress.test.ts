import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Output } from './output.ts';
import { during } from './progress.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function screen(interactive: boolean) {
  const lines: string[] = [];
  return {
    lines,
    out: { interactive, progress: (text: string, end = '') => void lines.push(text + end) } as unknown as Output,
  };
}

it('after a second a terminal shows the work and its duration, and the line is cleared at the end', async () => {
  const { lines, out } = screen(true);
  let bytes = 0;
  let finish = () => {};
  const work = during(out, () => `copying a (${bytes} bytes)`, new Promise<void>((resolve) => (finish = resolve)));
  await vi.advanceTimersByTimeAsync(900);
  expect(lines).toEqual([]);
  bytes = 7;
  await vi.advanceTimersByTimeAsync(1300);
  expect(lines.at(-1)).toMatch(/^\S copying a \(7 bytes\) \(2s\)$/);
  finish();
  await work;
  expect(lines.at(-1)).toBe('');
});

it('without a terminal no progress is shown, and a failure is passed on', async () => {
  const { lines, out } = screen(false);
  const failed = during(out, 'copying', Promise.reject(new Error('full')));
  await expect(failed).rejects.toThrow('full');
  await vi.advanceTimersByTimeAsync(5000);
  expect(lines).toEqual([]);
});
