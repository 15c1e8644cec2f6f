import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { removeSmallTree } from './remove-small-tree.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-remove-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('removeSmallTree removes files, folders and links, but not the targets of links', async () => {
  const kept = join(folder, 'kept');
  mkdirSync(kept);
  writeFileSync(join(kept, 'file'), '');
  mkdirSync(join(folder, 'tree/a/b'), { recursive: true });
  writeFileSync(join(folder, 'tree/a/file'), '');
  symlinkSync(kept, join(folder, 'tree/a/link'));
  symlinkSync(kept, join(folder, 'link'));
  expect([await removeSmallTree(join(folder, 'tree')), await removeSmallTree(join(folder, 'link'))]).toEqual([
    true,
    true,
  ]);
  expect(['tree', 'link', 'kept/file'].map((name) => existsSync(join(folder, name)))).toEqual([false, false, true]);
});

it('removeSmallTree succeeds if the path does not exist, and leaves large and deep trees to `rm`', async () => {
  expect(await removeSmallTree(join(folder, 'nothing'))).toBe(true);
  mkdirSync(join(folder, 'many'));
  for (let at = 0; at < 201; at += 1) writeFileSync(join(folder, 'many', String(at)), '');
  expect(await removeSmallTree(join(folder, 'many'))).toBe(false);
  mkdirSync(join(folder, 'deep', 'd/'.repeat(40)), { recursive: true });
  expect(await removeSmallTree(join(folder, 'deep'))).toBe(false);
});
