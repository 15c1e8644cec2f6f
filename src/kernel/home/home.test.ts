import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lockHome } from './home.ts';

let place: string;
let home: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'carrel-home-'));
  home = join(place, 'home');
  mkdirSync(home);
});
afterEach(() => rmSync(place, { recursive: true }));

it.each<[string, () => void]>([
  ['removed', () => rmSync(home, { recursive: true })],
  ['moved away', () => renameSync(home, join(place, 'elsewhere'))],
  [
    'replaced by a copy',
    () => {
      renameSync(home, join(place, 'elsewhere'));
      cpSync(join(place, 'elsewhere'), home, { recursive: true });
    },
  ],
])('the daemon loses the lock of its home when the home is %s', (_, change) => {
  const isHeld = lockHome(home);
  expect(isHeld()).toBe(true);
  change();
  expect(isHeld()).toBe(false);
});
