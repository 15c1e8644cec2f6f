import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { outsideTargetOf } from './outside-target.ts';

describe('a path in a folder', () => {
  let above: string;
  let folder: string;
  beforeAll(() => {
    above = mkdtempSync(join(tmpdir(), 'carrel-outside-'));
    folder = join(above, 'project');
    mkdirSync(join(folder, 'real/deep'), { recursive: true });
    const links = {
      away: '/srv/private',
      climbs: '../private',
      inside: 'real',
      absolute: join(folder, 'real'),
      second: 'inside/../away',
      'real/up': '../../private',
      hidden: 'real/up/../key',
      back: `${folder}/../private`,
      circle: 'circle',
    };
    for (const [name, target] of Object.entries(links)) symlinkSync(target, join(folder, name));
  });
  afterAll(() => rmSync(above, { recursive: true }));

  it.each(['.', 'real/deep', 'inside/deep', 'absolute', 'missing/x'])('%s stays inside', (path) => {
    expect(outsideTargetOf(folder, path)).toBeNull();
  });

  it.each([
    ['..', ''],
    ['../other', 'other'],
    ['climbs', 'private'],
    ['climbs/sub', 'private/sub'],
    ['inside/up', 'private'],
    ['hidden', 'key'],
    ['back', 'private'],
  ])('%s leads to the folder above, at %s', (path, there) => {
    expect(outsideTargetOf(folder, path)).toBe(join(above, there).replace(/\/$/, ''));
  });

  it.each([
    ['/srv/x', '/srv/x'],
    ['away', '/srv/private'],
    ['second/sub', '/srv/private/sub'],
  ])('%s leads to %s', (path, there) => {
    expect(outsideTargetOf(folder, path)).toBe(there);
  });

  it('that follows links in a circle is refused', () => {
    expect(() => outsideTargetOf(folder, 'circle')).toThrow('too many links');
  });
});
