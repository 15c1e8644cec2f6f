/** The oracle of the suite, independent of the code under test: a plain copy of the tree, and a plain comparison. */
import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import { fromBytes, toBytes } from '../../../src/model/byte-path.ts';
import type { Change, Entry, EntryType } from '../../../src/noun/workspace/model/change.ts';

export interface Difference {
  readonly path: string;
  readonly before: Entry | null;
  readonly after: Entry | null;
}

export function plainCopy(from: string, to: string, keepsLinks = true): void {
  const links = keepsLinks ? [] : ['--no-preserve=links'];
  execFileSync('cp', ['-a', ...links, '--sparse=always', from, to]);
}

/** Reads both trees whole; for trees that do not change meanwhile. */
export function differences(before: string, after: string): Difference[] {
  const [old, now] = [treeOf(before), treeOf(after)];
  return [...new Set([...old.keys(), ...now.keys()])]
    .map((path) => ({ path, before: old.get(path) ?? null, after: now.get(path) ?? null }))
    .filter((one) => !isSame(one, before, after))
    .sort((one, other) => Buffer.compare(toBytes(one.path), toBytes(other.path)));
}

export function shown(changes: readonly Change[]): Difference[] {
  return changes.map(({ path, before, after }) => ({ path, before, after }));
}

function isSame({ path, before, after }: Difference, beforeRoot: string, afterRoot: string): boolean {
  if (JSON.stringify(before) !== JSON.stringify(after)) return false;
  if (before?.type !== 'file') return true;
  return readFileSync(at(beforeRoot, path)).equals(readFileSync(at(afterRoot, path)));
}

function treeOf(root: string, path = '', found = new Map<string, Entry>()): Map<string, Entry> {
  for (const name of readdirSync(at(root, path), { encoding: 'buffer' })) {
    const child = path === '' ? fromBytes(name) : `${path}/${fromBytes(name)}`;
    const stat = lstatSync(at(root, child));
    found.set(child, entryOf(stat, at(root, child)));
    if (stat.isDirectory()) treeOf(root, child, found);
  }
  return found;
}

function entryOf(stat: Stats, path: Buffer): Entry {
  const kinds: [boolean, EntryType][] = [
    [stat.isFile(), 'file'],
    [stat.isDirectory(), 'folder'],
    [stat.isSymbolicLink(), 'link'],
    [stat.isFIFO(), 'fifo'],
    [stat.isSocket(), 'socket'],
  ];
  const type = kinds.find(([is]) => is)?.[1] ?? 'device';
  return {
    type,
    mode: type === 'link' ? 0 : stat.mode & 0o777,
    sizeBytes: type === 'file' ? stat.size : 0,
    target: type === 'link' ? fromBytes(readlinkSync(path, { encoding: 'buffer' })) : null,
  };
}

/** A path of any bytes below a folder. */
export function at(root: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), toBytes(path)]);
}
