/** Files of the project, a page at a time, in the order of their paths. */
import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';
import type { EntryKind, ListedFile, ListFiles, Page } from '../../model/spoke.ts';
import { realNames } from './path.ts';

export function listFiles(root: string, { path, depth, limit, after }: ListFiles): Page<ListedFile> {
  const start = realNames(root, path, true);
  const items: ListedFile[] = [];
  for (const item of entries(root, start, depth, path)) {
    if (after !== undefined && compare(item.path, after) <= 0) continue;
    if (items.length === limit) return { items, more: true };
    items.push(item);
  }
  return { items, more: false };
}

/** No link is followed, and of a folder named `.git` only the name is listed. */
function* entries(root: string, names: readonly string[], depth: number, asked: string): Generator<ListedFile> {
  const folder = join(root, ...names);
  for (const entry of read(folder, asked).toSorted((a, b) => compare(a.name, b.name))) {
    const path = [...names, entry.name];
    const kind = kindOf(entry);
    const sizeBytes = kind === 'file' ? (lstatSync(join(folder, entry.name), { throwIfNoEntry: false })?.size ?? 0) : 0;
    yield { path: path.join('/'), kind, sizeBytes };
    if (kind === 'folder' && depth > 1 && entry.name !== '.git') yield* entries(root, path, depth - 1, asked);
  }
}

/** So that everything in a folder comes right after it. */
function compare(a: string, b: string): number {
  const [left, right] = [a.replaceAll('/', '\0'), b.replaceAll('/', '\0')];
  return left < right ? -1 : left > right ? 1 : 0;
}

function read(folder: string, asked: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new Fault('not_found', `${printable(asked)} does not exist`, { cause: error });
    if (code === 'ENOTDIR') throw new Fault('invalid', `${printable(asked)} is not a folder`, { cause: error });
    if (code === 'EACCES') return [];
    throw error;
  }
}

function kindOf(entry: Dirent): EntryKind {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}
