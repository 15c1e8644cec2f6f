import { describe, expect, it } from 'vitest';
import { insideId, outsideId, parseIdMap } from './id-map.ts';

describe('an id map', () => {
  const map = parseIdMap('         0       1500          1\n         1     100000      65536\n');

  it.each([
    [0, 1500],
    [1, 100_000],
    [1000, 100_999],
  ])('maps the id %i inside to %i outside and back', (inside, outside) => {
    expect(outsideId(map, inside)).toBe(outside);
    expect(insideId(map, outside)).toBe(inside);
  });

  it('gives null for an id that is not mapped', () => {
    expect([insideId(map, 0), insideId(map, 1000), outsideId(map, 70_000)]).toEqual([null, null, null]);
    expect(outsideId(parseIdMap(''), 0)).toBeNull();
  });
});
