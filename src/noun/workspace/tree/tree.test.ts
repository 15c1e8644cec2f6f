import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TreeCursor } from './tree-cursor.ts';

describe('a position in a tree', () => {
  const depth = 100;
  let root: string;
  let cursor: TreeCursor;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'carrel-tree-'));
    for (let level = 0; level <= depth; level += 1) {
      mkdirSync(pathTo(level), { recursive: true });
      writeFileSync(join(pathTo(level), `mark-${level}`), '');
    }
    cursor = new TreeCursor(root);
  });
  afterEach(() => {
    cursor.close();
    rmSync(root, { recursive: true });
  });

  const pathTo = (level: number) => join(root, ...Array<string>(level).fill('d'));
  const marks = () => cursor.here?.list().filter((name) => name.startsWith('mark-'));
  const goDown = () => {
    for (let level = 0; level < depth; level += 1) expect(cursor.down('d')).toBe(true);
  };

  it('visits the same folders up as down, with few of them open', () => {
    const before = openFiles();
    goDown();
    expect(openFiles() - before).toBeLessThan(20);
    for (let level = depth; level > 0; level -= 1) {
      expect(marks()).toEqual([`mark-${level}`]);
      cursor.up();
    }
    expect(marks()).toEqual(['mark-0']);
    expect(cursor.lostTrack).toBe(false);
  });

  it('enters no link, and returns false for what is not a folder', () => {
    symlinkSync('d', join(root, 'link'));
    expect([cursor.down('link'), cursor.down('mark-0'), cursor.down('none')]).toEqual([false, false, false]);
    expect(marks()).toEqual(['mark-0']);
  });

  it('goes up to the folder it came from, even if the folder below was moved', () => {
    goDown();
    renameSync(pathTo(50), join(root, 'moved'));
    mkdirSync(pathTo(50));
    for (let level = depth; level > 49; level -= 1) cursor.up();
    expect(marks()).toEqual(['mark-49']);
  });

  it('has no position if its folder was replaced by a link', () => {
    goDown();
    renameSync(pathTo(50), join(root, 'moved'));
    renameSync(pathTo(20), join(root, 'aside'));
    symlinkSync('/etc', pathTo(20));
    for (let level = depth; level > 49; level -= 1) cursor.up();
    expect(cursor.here).toBeNull();
    expect(cursor.down('d')).toBe(false);
    expect(cursor.lostTrack).toBe(true);
    for (let level = 49; level > 0; level -= 1) cursor.up();
    expect(marks()).toEqual(['mark-0']);
  });
});

function openFiles(): number {
  return readdirSync('/proc/self/fd').length;
}
