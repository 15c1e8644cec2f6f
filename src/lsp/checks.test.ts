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

it('waits for the check after loading, and saves nothing for it', async () => {
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

it('saves a file when something has changed since the last check, and waits for the next', async () => {
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

it('a check that another one ended does not count', async () => {
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

it('leaves other progress alone', () => {
  expect(new Checks('flycheck').progress({ token: 'x/Indexing', value: { kind: 'begin' } })).toBe(false);
});
