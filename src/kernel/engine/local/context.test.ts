import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { installInit } from './context.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-init-'));
  vi.stubEnv('PATH', folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

test('the init of sandboxes is copied again if the time of the host’s init differs, even at the same size', () => {
  const [source, init] = [join(folder, 'tini-static'), join(folder, 'init')];
  writeFileSync(source, 'one', { mode: 0o755 });
  installInit({ init });
  expect(readFileSync(init, 'utf8')).toBe('one');
  writeFileSync(source, 'two');
  // Files of packages have the times at which they were built.
  utimesSync(source, 0, 1_700_000_000.5);
  installInit({ init });
  expect(readFileSync(init, 'utf8')).toBe('two');
  writeFileSync(init, 'own');
  utimesSync(init, 0, 1_700_000_000);
  installInit({ init });
  expect(readFileSync(init, 'utf8')).toBe('own');
});
