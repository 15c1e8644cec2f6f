import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { sendSizeOnKey } from './send-size-on-key.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** How often the size was sent for these keys, each typed twice after two seconds. */
function sizesSent(...keys: string[]): number {
  let count = 0;
  const source = new PassThrough();
  sendSizeOnKey(new PassThrough(), source, () => {
    count += 1;
  });
  for (const key of keys) {
    vi.advanceTimersByTime(2000);
    source.emit('data', Buffer.from(key));
    source.emit('data', Buffer.from(key));
  }
  return count;
}

it('a key, an arrow or the mouse sends the size, at most once a second', () => {
  expect(sizesSent('a', '\x1b[A', '\x1b', '\x1b[<0;5;5M', '\x1b[200~paste\x1b[201~')).toBe(5);
});

it('answers that a terminal sends by itself do not send the size', () => {
  const replies = ['\x1b[?62;4c', '\x1b[>0;276;0c', '\x1b[5;1R', '\x1b[0n', '\x1b[?2026;2$y', '\x1b[8;24;80t'];
  expect(sizesSent(...replies, '\x1b[?1u', '\x1b[I', '\x1b]11;rgb:00/00/00\x07', '\x1bP>|xterm\x1b\\')).toBe(0);
});
