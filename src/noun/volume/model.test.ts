import { describe, expect, it } from 'vitest';
import { checkVolumePrefix, parseVolumeRequest, userHash, volumeName, volumeTypes } from './model.ts';

describe('names of volumes', () => {
  it('carry the hash of the user, unless they are shared', () => {
    expect(userHash('ada')).toMatch(/^[0-9a-f]{8}$/);
    expect(volumeName('carrel', 'memory-bank', 'ada')).toBe(`carrel-memory-bank-${userHash('ada')}`);
    expect(volumeName('x', 'base-plugins', 'ada')).toBe('x-base-plugins');
    expect(new Set(volumeTypes.map((type) => volumeName('carrel', type, 'ada'))).size).toBe(7);
  });

  it.each(['', '-a', 'A', 'a/b', '..', 'a_b', 'x'.repeat(33), 'a\n'])('may not have the prefix %j', (prefix) => {
    expect(() => checkVolumePrefix(prefix)).toThrow(/prefix/);
  });
});

describe('--volume', () => {
  it('names a volume and a path', () => {
    expect(parseVolumeRequest('home:/h')).toEqual({ volume: 'home', target: '/h', readonly: false });
    expect(parseVolumeRequest('carrel-base-plugins:/a b/c:ro').readonly).toBe(true);
  });

  const bad = ['', 'home', 'home:', ':/a', 'home:a', 'home:/', 'home:/a/', 'home:/a/../b', 'home://a', 'home:/a:rw'];
  it.each([...bad, 'home:/a:ro:ro', 'home:/a\nb', 'home:/./a', 'home:/a//b'])('is refused as %j', (text) => {
    expect(() => parseVolumeRequest(text)).toThrow(/which volume goes where/);
  });
});
