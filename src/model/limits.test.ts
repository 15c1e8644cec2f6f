import { describe, expect, it } from 'vitest';
import { defaultLimits, resolveLimits } from './limits.ts';

const GiB = 1024 ** 3;

describe('resolveLimits', () => {
  it('gives the documented defaults', () => {
    expect(resolveLimits({})).toEqual({
      cpus: 2,
      memoryBytes: 4 * GiB,
      swapBytes: 8 * GiB,
      pids: 512,
      diskBytes: 8 * GiB,
    });
  });

  it('sets swap to twice the memory unless swap was requested', () => {
    expect(resolveLimits({ memoryBytes: GiB }).swapBytes).toBe(2 * GiB);
    expect(resolveLimits({ memoryBytes: GiB, swapBytes: GiB }).swapBytes).toBe(GiB);
    expect(resolveLimits({ memoryBytes: 1024 ** 5 }).swapBytes).toBe(1024 ** 5);
  });

  it.each([
    [{ cpus: 0 }, 'limits.cpus'],
    [{ cpus: Number.NaN }, 'limits.cpus'],
    [{ memoryBytes: 1024 }, 'limits.memoryBytes: 1.0K is out of range'],
    [{ pids: 5_000_000 }, 'limits.pids'],
    [{ memoryBytes: 2 * GiB, swapBytes: GiB }, 'limits.swapBytes'],
  ])('refuses %j and names the field', (requested, field) => {
    expect(() => resolveLimits(requested, defaultLimits)).toThrow(field);
  });
});
