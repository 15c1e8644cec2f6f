import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ServerWork } from './server-work.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const begin = { token: 1, value: { kind: 'begin' } };
const end = { token: 1, value: { kind: 'end' } };

it('work counts as running from its begin message to its end message', async () => {
  const work = new ServerWork();
  expect(work.isRunning).toBe(false);
  work.progress(begin);
  expect(work.isRunning).toBe(true);
  const settled = work.settled();
  work.progress(end);
  await settled;
});

it('work that is expected counts as running before it is announced', async () => {
  const work = new ServerWork(1000);
  expect(work.isRunning).toBe(true);
  const settled = work.settled();
  work.progress(begin);
  work.progress(end);
  await settled;
  expect(work.isRunning).toBe(false);
});

it('work that is expected and never announced stops counting as running after the time-out', async () => {
  const work = new ServerWork(1000);
  const settled = work.settled();
  vi.advanceTimersByTime(1000);
  await settled;
});
