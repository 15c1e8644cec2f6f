import { describe, expect, it } from 'vitest';
import { ulidAfter, ulidPattern, ulidTime } from './ulid.ts';

describe('a ULID', () => {
  const now = Date.UTC(2026, 10, 16, 16, 40);

  it('has the pattern and the time it was made at', () => {
    const id = ulidAfter(null, now);
    expect(id).toMatch(ulidPattern);
    expect(ulidTime(id)).toBe(now);
  });

  it('R1: is greater than the one before when the clock moves, stands still and jumps back', () => {
    let last = ulidAfter(null, now);
    for (const ms of [now + 1, now + 1, now - 3_600_000, 0, now + 1, now + 2]) {
      const next = ulidAfter(last, ms);
      expect(next > last).toBe(true);
      expect(next).toMatch(ulidPattern);
      last = next;
    }
  });

  it('is counted up with a carry to the next digit', () => {
    expect(ulidAfter('01ARZ3NDEK00000000000000ZZ', 0)).toBe('01ARZ3NDEK0000000000000100');
    expect(ulidAfter('01ARZ3NDEKZZZZZZZZZZZZZZZZ', 0)).toBe('01ARZ3NDEM0000000000000000');
  });
});
