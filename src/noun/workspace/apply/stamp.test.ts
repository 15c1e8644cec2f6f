import { describe, expect, it } from 'vitest';
import type { Stat } from '../../../lib/sys/stat.ts';
import { isIt, isUntouched, type Stamp, stampOf } from './stamp.ts';

const kinds = { file: 0o100000n, folder: 0o040000n, link: 0o120000n } as const;

function stat(
  kind: keyof typeof kinds,
  change: Partial<Record<'ino' | 'mode' | 'size' | 'mtimeNs' | 'ctimeNs' | 'nlink', bigint>> = {},
): Stat {
  const { mode = 0o644n, ...rest } = change;
  const is = (one: keyof typeof kinds) => () => one === kind;
  return {
    ...{ dev: 1n, ino: 7n, nlink: 1n, uid: 0n, gid: 0n, rdev: 0n, size: 5n, mtimeNs: 10n, ctimeNs: 10n },
    ...rest,
    mode: kinds[kind] | mode,
    ...{ isFile: is('file'), isDirectory: is('folder'), isSymbolicLink: is('link') },
    ...{ isFIFO: () => false, isSocket: () => false, isBlockDevice: () => false, isCharacterDevice: () => false },
  } as unknown as Stat;
}

const file: Stamp = stampOf(stat('file'), null);

describe('a file', () => {
  it('is untouched while inode, mode, size and time are the same; other names and a rename do not count', () => {
    expect(isUntouched(stat('file'), file)).toBe(true);
    expect(isUntouched(stat('file', { ctimeNs: 99n, nlink: 3n }), file)).toBe(true);
  });

  it.each([
    ['another inode', stat('file', { ino: 8n })],
    ['another mode', stat('file', { mode: 0o600n })],
    ['a set-user-id bit', stat('file', { mode: 0o4644n })],
    ['another size', stat('file', { size: 6n })],
    ['another time', stat('file', { mtimeNs: 11n })],
    ['another type with the same inode', stat('link')],
    ['nothing', null],
  ])('is touched if there is %s', (_, now) => {
    expect(isUntouched(now, file)).toBe(false);
  });

  it('that was changed in place is still the same file', () => {
    expect(isIt(stat('file', { size: 6n, mtimeNs: 11n, mode: 0o600n }), file)).toBe(true);
    expect(isIt(stat('folder'), file)).toBe(false);
  });
});

it('a folder counts by its mode alone, since its time and size change with its entries', () => {
  const folder = stampOf(stat('folder', { mode: 0o755n }), null);
  expect(isUntouched(stat('folder', { mode: 0o755n, size: 9n, mtimeNs: 99n }), folder)).toBe(true);
  expect(isUntouched(stat('folder', { mode: 0o700n }), folder)).toBe(false);
});

it('a link has no mode and cannot be changed in place', () => {
  const link = stampOf(stat('link'), null);
  expect(isUntouched(stat('link', { mode: 0o777n, mtimeNs: 99n }), link)).toBe(true);
  expect(isUntouched(stat('link', { ino: 8n }), link)).toBe(false);
});
