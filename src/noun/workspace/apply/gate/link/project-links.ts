/**
 * Every symbolic link of a project, found by reading its folders, the upper ones first. Folders are entered by open
 * descriptors and never through a link; no file is read, since a folder's entries say which are links. Git's index is not
 * enough: it has neither links that are not committed nor those in `.git`.
 */
import type { Anchor } from '../../../../../lib/file/anchor.ts';
import { isErrno } from '../../../../../lib/file/file.ts';
import { entryTypes, typedNames } from '../../../../../lib/file/folder-names.ts';
import type { BytePath } from '../../../../../model/byte-path.ts';
import type { Folders } from '../../../tree/folders.ts';
import { look, readLink, unlessGone } from '../../../tree/tree.ts';

export interface ProjectLinks {
  readonly links: ReadonlyMap<BytePath, BytePath>;
  /** False: there was not enough time, or there are too many links. */
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
  const entries = folder && readable(() => typedNames(folder.fd, mayMatter));
  if (!folder || !entries) return;
  for (const { name, type } of entries) {
    const here = path === '' ? name : `${path}/${name}`;
    const kind = type === entryTypes.unknown ? typeAt(folder, name) : type;
    if (kind === entryTypes.link) {
      const target = readLink(folder, name);
      if (target !== null) links.set(here, target);
    } else if (kind === entryTypes.folder && !isStore(here)) below.push(here);
  }
}

function mayMatter(type: number): boolean {
  return type === entryTypes.link || type === entryTypes.folder || type === entryTypes.unknown;
}

/** Some filesystems do not report the type of an entry. */
function typeAt(folder: Anchor, name: BytePath): number {
  const stat = look(folder, name);
  if (stat?.isSymbolicLink()) return entryTypes.link;
  return stat?.isDirectory() ? entryTypes.folder : entryTypes.file;
}

/** The objects of a repository: many folders, and no links that git follows. */
function isStore(path: BytePath): boolean {
  return /(?:^|\/)\.git\/(?:.*\/)?objects$/.test(path);
}

/** Null: the daemon may not read it, or it was just removed. */
function readable<T>(read: () => T): T | null {
  try {
    return unlessGone(read);
  } catch (error) {
    if (isErrno(error, 'EACCES')) return null;
    throw error;
  }
}
