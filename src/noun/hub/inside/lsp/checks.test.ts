import { expect, it, vi } from 'vitest';
import { Checks } from './checks.ts';

const begin = { token: 'x/flycheck/0', value: { kind: 'begin' } };
const end = { token: 'x/flycheck/0', value: { kind: 'end' } };

function opened() {
  const checks = new Checks('flycheck');
  const save = vi.fn();
  let isDone = false;
  const done = checks.done(save).then(() => {
    isDone = true;
  });
  return { checks, save, done, isDone: () => isDone };
}

it('done waits for the check after loading, and does not save a file', async () => {
  const { checks, save, done, isDone } = opened();
  checks.loaded(false);
  checks.loaded(true);
  checks.progress(begin);
  await Promise.resolve();
  expect(isDone()).toBe(false);
  checks.progress(end);
  await done;
  expect(save).not.toHaveBeenCalled();
});

it('done saves a file once after a change, and waits for the check that follows', async () => {
  const { checks, done } = opened();
  checks.loaded(true);
  checks.progress(begin);
  checks.progress(end);
  await done;
  checks.changed();
  const save = vi.fn(() => {
    queueMicrotask(() => {
      for (const one of [begin, end]) checks.progress(one);
    });
  });
  await checks.done(save);
  await checks.done(save);
  expect(save).toHaveBeenCalledTimes(1);
});

it('a check that was ended by a newer one does not count as done', async () => {
  const { checks, done, isDone } = opened();
  checks.loaded(true);
  checks.progress(begin);
  checks.loaded(false);
  checks.loaded(true);
  checks.progress(end);
  await Promise.resolve();
  expect(isDone()).toBe(false);
  checks.progress(begin);
  checks.progress(end);
  await done;
});

it('progress that is not of a check is ignored', () => {
  expect(new Checks('flycheck').progress({ token: 'x/Indexing', value: { kind: 'begin' } })).toBe(false);
});
