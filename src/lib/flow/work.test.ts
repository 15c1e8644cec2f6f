import { expect, it } from 'vitest';
import { Work } from './work.ts';

it('close waits for running tasks, also for those that fail, and refuses new ones', async () => {
  const work = new Work();
  let fail = (_: Error) => {};
  const begun = work.run(
    () =>
      new Promise((_, reject) => {
        fail = reject;
      }),
  );
  let closed = false;
  const closing = work.close().then(() => {
    closed = true;
  });
  await expect(work.run(async () => 1)).rejects.toMatchObject({ code: 'unavailable' });
  expect(closed).toBe(false);
  fail(new Error('no'));
  await expect(begun).rejects.toThrow('no');
  await closing;
});
