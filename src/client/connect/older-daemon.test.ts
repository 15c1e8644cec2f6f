import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isOlder } from '../../lib/flow/build-age.ts';
import { olderText } from './older-daemon.ts';

const own = { version: '0.10.0', build: 'b', builtAt: '2026-02-01T00:00:00.000Z' };

describe('a daemon', () => {
  it.each([
    ['of an earlier version', { version: '0.9.1', build: 'a', builtAt: '2026-03-01T00:00:00.000Z' }, true],
    ['of a later version', { version: '0.10.1', build: 'a', builtAt: '2026-01-01T00:00:00.000Z' }, false],
    ['of an earlier build', { ...own, build: 'a', builtAt: '2026-01-01T00:00:00.000Z' }, true],
    ['of a later build', { ...own, build: 'a', builtAt: '2026-03-01T00:00:00.000Z' }, false],
    ['of the same content, built before', { ...own, builtAt: '2026-01-01T00:00:00.000Z' }, false],
  ])('%s is compared by version, then by build time', (_, running, older) => {
    expect(isOlder(running, own)).toBe(older);
  });
});

describe('the note of a daemon', () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'carrel-older-'));
  });
  afterEach(() => rmSync(home, { recursive: true }));
  const note = (content: unknown) => writeFileSync(join(home, 'daemon.json'), JSON.stringify(content));
  const earlier = { version: '0.9.0', build: 'a', builtAt: '2026-01-01T00:00:00.000Z' };

  it('leads to a notice about an older build while the process of the daemon lives', () => {
    expect(olderText(home, own)).toBeNull();
    note({ pid: process.pid, ...earlier });
    expect(olderText(home, own)).toBe(
      'the daemon is older than this command: it is 0.9.0, built 2026-01-01 00:00:00 UTC, this is 0.10.0, built 2026-02-01 00:00:00 UTC',
    );
    note({ pid: 2 ** 30, ...earlier });
    expect(olderText(home, own)).toBeNull();
  });

  it('is ignored if it is invalid', () => {
    for (const content of [null, [], 'x', { pid: process.pid }, { pid: process.pid, ...earlier, version: 9 }]) {
      note(content);
      expect(olderText(home, own)).toBeNull();
    }
  });
});
