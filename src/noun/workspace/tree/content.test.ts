import { createHash } from 'node:crypto';
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Content } from '../model/change.ts';
import { copyContent, copyPart, hashOf, openBelow, readContent, sameBytes } from './content.ts';

describe('contents', () => {
  let root: string;
  let content: Content;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'carrel-content-'));
    content = { at: 'tree', root };
    mkdirSync(join(root, 'folder'));
    writeFileSync(join(root, 'folder/file'), 'secret');
    symlinkSync('folder', join(root, 'link'));
    symlinkSync('folder/file', join(root, 'to-file'));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('are read below a folder, never through links', () => {
    const read = (path: string) => readContent(content, path, 100)?.toString();
    expect(read('folder/file')).toBe('secret');
    const none = ['link/file', 'to-file', 'folder', 'none', 'none/file', 'folder/file/x'].map(read);
    expect(none).toEqual(none.map(() => undefined));
    expect(readContent({ at: 'lost' }, 'folder/file', 100)).toBeNull();
  });

  it('are read up to a limit', () => {
    expect(readContent(content, 'folder/file', 6)?.length).toBe(6);
    expect(readContent(content, 'folder/file', 5)).toBeNull();
  });

  it('are copied with their holes', () => {
    const bytes = Buffer.alloc(1_200_000, 'x');
    bytes.fill(0, 5, 1_000_000);
    bytes.write('start');
    bytes.write('end', bytes.length - 3);
    writeFileSync(join(root, 'big'), bytes);
    const to = openSync(join(root, 'copy'), 'w');
    const copied = copyContent(content, 'big', to);
    closeSync(to);
    expect(copied).toEqual({ bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') });
    expect(readFileSync(join(root, 'copy')).equals(bytes)).toBe(true);
    expect(statSync(join(root, 'copy')).blocks * 512).toBeLessThan(1_000_000);
  });

  const hole = (name: string, lengthBytes: number, ...texts: readonly [string, number][]) => {
    const fd = openSync(join(root, name), 'w');
    ftruncateSync(fd, lengthBytes);
    for (const [text, position] of texts) writeSync(fd, text, position);
    closeSync(fd);
    return openBelow(root, name)!;
  };

  it('of a tebibyte of holes are hashed, compared and copied by their data alone', () => {
    const tebibyte = 1024 ** 4;
    const one = hole('one', tebibyte, ['start', 0], ['middle', tebibyte / 2 + 5000]);
    const same = hole('same', tebibyte, ['start', 0], ['middle', tebibyte / 2 + 5000]);
    const other = hole('other', tebibyte, ['start', 0], ['muddle', tebibyte / 2 + 5000]);
    expect(hashOf(one).sha256).toMatch(/^sparse:[0-9a-f]{64}$/);
    expect(hashOf(one)).toEqual(hashOf(same));
    expect(hashOf(one).sha256).not.toBe(hashOf(other).sha256);
    expect([sameBytes(one, same), sameBytes(one, other)]).toEqual([true, false]);
    const to = openSync(join(root, 'copy'), 'w+');
    expect(copyPart(one, to)).toEqual(hashOf(one));
    expect(sameBytes(one, openBelow(root, 'copy'))).toBe(true);
    expect(statSync(join(root, 'copy')).blocks * 512).toBeLessThan(2_000_000);
    for (const fd of [to, one.fd, same.fd, other.fd]) closeSync(fd);
  });

  it('have the same hash whether zeros were written or left out', () => {
    const size = 20 * 1024 ** 2;
    const sparse = hole('sparse', size, ['x', 9_999_999]);
    const bytes = Buffer.alloc(size);
    bytes.write('x', 9_999_999);
    writeFileSync(join(root, 'dense'), bytes);
    const dense = openBelow(root, 'dense')!;
    expect(hashOf(sparse)).toEqual(hashOf({ ...dense, isSparse: false }));
    expect(sameBytes(sparse, dense)).toBe(true);
    for (const { fd } of [sparse, dense]) closeSync(fd);
  });

  it('have the same hash at the limit of zeros, with a part of a block at the end', () => {
    const size = 1024 ** 2 + 5;
    const sparse = hole('sparse', size);
    writeFileSync(join(root, 'dense'), Buffer.alloc(size));
    const dense = openBelow(root, 'dense')!;
    expect(hashOf(sparse)).toEqual(hashOf({ ...dense, isSparse: false }));
    for (const { fd } of [sparse, dense]) closeSync(fd);
  });

  it('with more zeros than the limit are hashed without them', () => {
    const part = hole('short', 3 * 1024 ** 2);
    expect(hashOf(part).sha256).toMatch(/^sparse:/);
    closeSync(part.fd);
  });

  it('may end in a hole', () => {
    writeFileSync(join(root, 'zeros'), Buffer.alloc(1024 * 1024));
    const to = openSync(join(root, 'copy'), 'w');
    expect(copyContent(content, 'zeros', to)?.bytes).toBe(1024 * 1024);
    closeSync(to);
    expect(statSync(join(root, 'copy')).size).toBe(1024 * 1024);
  });
});
