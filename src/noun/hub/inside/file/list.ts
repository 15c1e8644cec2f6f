/** Files of the project, a page at a time, in the order of their paths. */
import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../../../../lib/file/file.ts';
import { Fault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';
import type { EntryKind, ListedFile, ListFiles, Page } from '../../model/spoke.ts';
import { realNames } from './path.ts';

/** A page reads only folders that have entries after the last path of the page before. */
export function listFiles(root: string, { path, depth, limit, after }: ListFiles): Page<ListedFile> {
  const start = realNames(root, path, true);
  const last = after === undefined ? [] : namesBelow(start, after);
  const items: ListedFile[] = [];
  for (const item of entries(root, start, depth, last, path)) {
    if (items.length === limit) return { items, more: true };
    items.push(item);
  }
  return { items, more: false };
}

function namesBelow(start: readonly string[], path: string): string[] {
  const names = path.split('/');
  if (start.every((name, at) => names[at] === name)) return names.slice(start.length);
  throw new Fault('invalid', 'cursor is not one that this listing gave', { data: { field: 'cursor' } });
}

/** No link is followed, and of a folder named `.git` only the name is listed. `last`: names that lead to the last entry listed. */
function* entries(
  root: string,
  names: readonly string[],
  depth: number,
  last: readonly string[],
  requested: string | null,
): Generator<ListedFile> {
  const folder = join(root, ...names);
  const [from, ...below] = last;
  for (const entry of read(folder, requested).toSorted(byName)) {
    if (from !== undefined && entry.name < from) continue;
    const isListed = entry.name === from;
    const path = [...names, entry.name];
    const kind = kindOf(entry);
    if (!isListed)
      yield { path: path.join('/'), kind, sizeBytes: kind === 'file' ? sizeOf(join(folder, entry.name)) : 0 };
    if (kind !== 'folder' || depth <= 1 || entry.name === '.git') continue;
    yield* entries(root, path, depth - 1, isListed ? below : [], null);
  }
}

function byName(a: Dirent, b: Dirent): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function sizeOf(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** A folder below the requested one may be removed meanwhile, ignoring. */
function read(folder: string, requested: string | null): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (requested === null || isErrno(error, 'EACCES')) return [];
    if (isErrno(error, 'ENOENT'))
      throw new Fault('not_found', `${printable(requested)} does not exist`, { cause: error });
    if (isErrno(error, 'ENOTDIR'))
      throw new Fault('invalid', `${printable(requested)} is not a folder`, { cause: error });
    throw error;
  }
}

function kindOf(entry: Dirent): EntryKind {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}
