import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { InboxWatch } from './inbox-watch.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-inbox-watch-'));
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

const quiet = { add: () => {}, remove: () => {}, close: () => {} };

test('a filesystem that reports no change of the probe is polled, until the inbox is removed', async () => {
  const watch = new InboxWatch(
    () => false,
    () => quiet,
  );
  const noticed = vi.fn();
  const added = watch.add(folder, noticed);
  expect(readdirSync(folder)).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(500);
  expect([await added, readdirSync(folder)]).toEqual(['polling', []]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(noticed.mock.calls).toEqual([[null], [null]]);
  watch.remove(folder);
  await vi.advanceTimersByTimeAsync(1000);
  expect(noticed).toHaveBeenCalledTimes(2);
});

test('a kernel without inotify has every inbox polled', async () => {
  const watch = new InboxWatch(
    () => false,
    () => null,
  );
  expect(await watch.add(folder, () => {})).toBe('polling');
  watch.close();
});
