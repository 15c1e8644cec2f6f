import { afterEach, beforeEach, expect, it } from 'vitest';
import { LogFlush } from './log-flush.ts';

/** Flushes of the disk that have begun, each ended by the test. */
let begun: { end: () => void; fail: (error: Error) => void }[];
let flush: LogFlush;

beforeEach(() => {
  begun = [];
  flush = new LogFlush(
    '/dev/null',
    () => new Promise((resolve, reject) => void begun.push({ end: resolve, fail: reject })),
  );
});
afterEach(() => flush.close());

async function settled(promise: Promise<void>): Promise<boolean> {
  return Promise.race([promise.then(() => true), new Promise<boolean>((resolve) => setImmediate(resolve, false))]);
}

it('a flush that is requested while another is under way begins after it, once for all requests', async () => {
  const first = flush.flush();
  const [second, third] = [flush.flush(), flush.flush()];
  expect(begun.length).toBe(1);
  begun[0]!.end();
  await first;
  expect(await settled(second)).toBe(false);
  expect(begun.length).toBe(2);
  begun[1]!.end();
  await Promise.all([second, third]);
  const fourth = flush.flush();
  expect(begun.length).toBe(3);
  begun[2]!.end();
  await fourth;
});

it('a failed flush rejects its own requests only, and the next one begins anyway', async () => {
  const first = flush.flush();
  const second = flush.flush();
  begun[0]!.fail(new Error('EIO'));
  await expect(first).rejects.toThrow('EIO');
  expect(await settled(second)).toBe(false);
  begun[1]!.end();
  await second;
});
