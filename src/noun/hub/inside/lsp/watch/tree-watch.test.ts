import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TreeWatch } from './tree-watch.ts';

let root: string;
let tree: TreeWatch;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'carrel-tree-'));
  mkdirSync(join(root, 'src'));
  writeFileSync(join(root, 'src/a'), '1');
  tree = new TreeWatch(root);
});
afterEach(() => {
  tree.dispose();
  rmSync(root, { recursive: true });
});

async function changes(): Promise<Record<string, string>> {
  return Object.fromEntries(await tree.flush());
}

it('flush returns all changes before it, each once', async () => {
  expect(await changes()).toEqual({});
  writeFileSync(join(root, 'src/a'), '2');
  writeFileSync(join(root, 'src/b'), '1');
  expect(await changes()).toEqual({ 'src/a': 'changed', 'src/b': 'created' });
  expect(await changes()).toEqual({});
});

it('a change right after another one, with the same size, is not lost', async () => {
  for (let round = 0; round < 100; round += 1) {
    writeFileSync(join(root, 'src/a'), `${round % 10}`);
    expect(await changes()).toEqual({ 'src/a': 'changed' });
  }
});

it('a file that is renamed over another one is reported as a change of that one', async () => {
  writeFileSync(join(root, 'src/.new'), '2');
  renameSync(join(root, 'src/.new'), join(root, 'src/a'));
  expect(await changes()).toEqual({ 'src/a': 'changed' });
});

it('files in folders that are new, moved or removed are reported', async () => {
  mkdirSync(join(root, 'x/y'), { recursive: true });
  writeFileSync(join(root, 'x/y/c'), '');
  expect(await changes()).toEqual({ 'x/y/c': 'created' });
  renameSync(join(root, 'x'), join(root, 'z'));
  expect(await changes()).toEqual({ 'x/y/c': 'deleted', 'z/y/c': 'created' });
  writeFileSync(join(root, 'z/y/c'), '1');
  expect(await changes()).toEqual({ 'z/y/c': 'changed' });
  rmSync(join(root, 'z'), { recursive: true });
  expect(await changes()).toEqual({ 'z/y/c': 'deleted' });
});

it('a folder that replaces another one is read again', async () => {
  rmSync(join(root, 'src'), { recursive: true });
  mkdirSync(join(root, 'src'));
  writeFileSync(join(root, 'src/d'), '');
  expect(await changes()).toEqual({ 'src/a': 'deleted', 'src/d': 'created' });
  writeFileSync(join(root, 'src/d'), '1');
  expect(await changes()).toEqual({ 'src/d': 'changed' });
});

it('links, repositories and caches are left out; of installed packages only the list is watched', async () => {
  symlinkSync('/', join(root, 'link'));
  for (const path of ['.git', 'target', 'node_modules/left']) mkdirSync(join(root, path), { recursive: true });
  for (const path of [
    '.git/HEAD',
    'target/CACHEDIR.TAG',
    'node_modules/left/index.js',
    'node_modules/.package-lock.json',
  ])
    writeFileSync(join(root, path), '');
  expect(Object.keys(await changes())).toEqual(['node_modules/.package-lock.json']);
  writeFileSync(join(root, 'node_modules/left/index.js'), '1');
  writeFileSync(join(root, '.git/HEAD'), '1');
  expect(await changes()).toEqual({});
});
