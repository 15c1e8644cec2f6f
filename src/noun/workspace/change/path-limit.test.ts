import { describe, expect, it } from 'vitest';
import { pathLimit } from './path-limit.ts';

describe('the limit on listed paths', () => {
  it('allows a million paths, and not one more', () => {
    const limit = pathLimit();
    for (let count = 0; count < 1_000_000; count += 1) limit('path');
    expect(() => limit('path')).toThrow(expect.objectContaining({ code: 'exhausted', hint: expect.any(String) }));
  });

  it('allows long paths up to 256 MiB in total', () => {
    const [limit, long] = [pathLimit(), 'x'.repeat(1024 * 1024)];
    for (let count = 0; count < 256; count += 1) limit(long);
    expect(() => limit('x')).toThrow(expect.objectContaining({ code: 'exhausted' }));
  });
});
