import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { DetachKeys } from './detach-keys.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Types these pieces; returns the keys that are passed on at once and later, and whether the two keys detached. */
function typed(...pieces: string[]): { now: string; later: string; left: boolean } {
  let left = false;
  const keys = new DetachKeys(() => {
    left = true;
  });
  for (const piece of pieces) keys.write(piece);
  const now = String(keys.read() ?? '');
  vi.runAllTimers();
  return { now, later: String(keys.read() ?? ''), left };
}

it('Ctrl-P Ctrl-Q detaches, in one chunk or in two, and neither key is passed on', () => {
  expect(typed('ls\x10\x11more')).toEqual({ now: 'ls', later: '', left: true });
  expect(typed('ls\x10', '\x11')).toEqual({ now: 'ls', later: '', left: true });
});

it('a Ctrl-P without a Ctrl-Q after it is passed on with the next key, or a moment later', () => {
  expect(typed('\x10', 'x')).toEqual({ now: '\x10x', later: '', left: false });
  expect(typed('\x10', '\x10', '\x10')).toEqual({ now: '\x10\x10', later: '\x10', left: false });
});

it('all other keys are passed on at once', () => {
  expect(typed('\x11\x10x\x11\x03')).toEqual({ now: '\x11\x10x\x11\x03', later: '', left: false });
});
