import { createHash } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Content } from '../../model/change.ts';
import { copyContent, readContent } from './content.ts';

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

  it('are read below a folder, not through links', () => {
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
    const bytes = Buffer.alloc(5_000_000);
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

  it('may end in a hole', () => {
    writeFileSync(join(root, 'zeros'), Buffer.alloc(1024 * 1024));
    const to = openSync(join(root, 'copy'), 'w');
    expect(copyContent(content, 'zeros', to)?.bytes).toBe(1024 * 1024);
    closeSync(to);
    expect(statSync(join(root, 'copy')).size).toBe(1024 * 1024);
  });
});
