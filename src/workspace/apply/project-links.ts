/**
 * Every symbolic link of a project, found by reading its folders, the upper ones first. Folders are entered by open
 * descriptors and never through a link; no file is read, since a folder's entries say which are links. Git's index is not
 * enough: it has neither links that are not committed nor those in `.git`.
 */
import { readdirSync } from 'node:fs';
import { isErrno } from '../../lib/file.ts';
import { type BytePath, fromBytes } from '../../model/byte-path.ts';
import type { Folders } from '../tree/folders.ts';
import { look, readLink, unlessGone } from '../tree/tree.ts';

export interface ProjectLinks {
  readonly links: ReadonlyMap<BytePath, BytePath>;
  /** False: there was not enough time, or there are too many. */
  readonly whole: boolean;
}

export interface LinkLimits {
  readonly ms: number;
  readonly links: number;
}

const usualLimits: LinkLimits = { ms: 30_000, links: 200_000 };

export function projectLinks(folders: Folders, limits: LinkLimits = usualLimits): ProjectLinks {
  const links = new Map<BytePath, BytePath>();
  const until = performance.now() + limits.ms;
  let level: BytePath[] = [''];
  while (level.length > 0) {
    const next: BytePath[] = [];
    for (const folder of level) {
      if (performance.now() > until || links.size > limits.links) return { links, whole: false };
      readFolder(folders, folder, links, next);
    }
    level = next;
  }
  return { links, whole: true };
}

function readFolder(folders: Folders, path: BytePath, links: Map<BytePath, BytePath>, below: BytePath[]): void {
  const folder = readable(() => folders.open(path));
  const entries = folder && readable(() => readdirSync(folder.path, { withFileTypes: true, encoding: 'buffer' }));
  if (!folder || !entries) return;
  for (const entry of entries) {
    const name = fromBytes(entry.name);
    const here = path === '' ? name : `${path}/${name}`;
    if (entry.isSymbolicLink()) {
      const target = readLink(folder, name);
      if (target !== null) links.set(here, target);
    } else if (isFolder(entry, () => look(folder, name)?.isDirectory() ?? false) && !isStore(here)) below.push(here);
  }
}

/** Some filesystems do not report the type of an entry. */
function isFolder(entry: { isDirectory(): boolean; isFile(): boolean }, ask: () => boolean): boolean {
  return entry.isDirectory() || (!entry.isFile() && ask());
}

/** The objects of a repository: many folders, and no links that git follows. */
function isStore(path: BytePath): boolean {
  return /(?:^|\/)\.git\/(?:.*\/)?objects$/.test(path);
}

/** Null for what the daemon may not read and for what has just been removed. */
function readable<T>(read: () => T): T | null {
  try {
    return unlessGone(read);
  } catch (error) {
    if (isErrno(error, 'EACCES')) return null;
    throw error;
  }
}
