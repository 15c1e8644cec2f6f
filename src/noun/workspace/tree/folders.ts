/**
 * The folders below one root, each opened once, component by component, and never through a link. A folder stays the one
 * it was when opened; after `forget` folders are opened again from the root.
 */
import { Anchor } from '../../../lib/file/anchor.ts';
import { type Stat, statIn } from '../../../lib/sys/stat.ts';
import type { NamedEntry } from '../../../lib/sys/sys.ts';
import { type BytePath, isAscii, toBytes } from '../../../model/byte-path.ts';
import { enter } from './tree.ts';

/** Well below the usual limit of 1024 descriptors. */
const maxOpen = 256;

export interface EntryLocation {
  readonly folder: Anchor;
  readonly name: BytePath;
}

export class Folders {
  readonly #root: Anchor;
  readonly #opened = new Map<BytePath, Anchor>();

  constructor(root: string) {
    this.#root = Anchor.reach(root);
  }

  /** Null: there is no such folder, or a link or file is in the way. */
  open(path: BytePath): Anchor | null {
    if (path === '') return this.#root;
    const known = this.#opened.get(path);
    if (known) return known;
    const parent = this.open(parentOf(path));
    const folder = parent && enter(parent, nameOf(path));
    if (folder) this.#keep(path, folder);
    return folder;
  }

  /** The folder and the name of a path; null: its folder is not there. */
  locate(path: BytePath): EntryLocation | null {
    const folder = this.open(parentOf(path));
    return folder && { folder, name: nameOf(path) };
  }

  look(path: BytePath): Stat | null {
    const location = this.locate(path);
    return location && lookAt(location);
  }

  forget(): void {
    for (const folder of this.#opened.values()) folder.close();
    this.#opened.clear();
  }

  close(): void {
    this.forget();
    this.#root.close();
  }

  #keep(path: BytePath, folder: Anchor): void {
    if (this.#opened.size >= maxOpen) this.forget();
    this.#opened.set(path, folder);
  }
}

/** The form of a location for system calls that take a folder and a name. */
export function folderEntry({ folder, name }: EntryLocation): NamedEntry {
  return { folderFd: folder.fd, name };
}

export function lookAt({ folder, name }: EntryLocation): Stat | null {
  return statIn({ folderFd: folder.fd, name });
}

/** Valid in this process only. A string for ASCII names, since Node handles strings faster than buffers. */
export function pathOf({ folder, name }: EntryLocation): string | Buffer {
  return isAscii(name) ? `/proc/self/fd/${folder.fd}/${name}` : folder.at(toBytes(name));
}

export function parentOf(path: BytePath): BytePath {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Every folder that one of these paths is in. */
export function foldersAbove(paths: Iterable<BytePath>): Set<BytePath> {
  const found = new Set<BytePath>();
  for (const path of paths)
    for (let folder = parentOf(path); folder !== '' && !found.has(folder); folder = parentOf(folder)) found.add(folder);
  return found;
}

export function nameOf(path: BytePath): BytePath {
  return path.slice(path.lastIndexOf('/') + 1);
}
