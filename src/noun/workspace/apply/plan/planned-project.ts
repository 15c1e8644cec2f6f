/**
 * The project as it would be after everything planned so far: a layer of planned entries over what is on disk. Each path on
 * disk is read once, and the apply later expects exactly the stamp that it had then.
 */
import { readdirSync } from 'node:fs';
import { type BytePath, fromBytes } from '../../../../model/byte-path.ts';
import { identityOf } from '../../change/base/base-log.ts';
import type { Entry, FileIdentity } from '../../model/change.ts';
import { Folders, lookAt, parentOf } from '../../tree/folders.ts';
import type { ContentSource } from '../../tree/reader.ts';
import { entryOf, type Stamp, stampOf } from '../stamp.ts';

/** The entry at a path, on disk or planned. */
export interface PathState {
  readonly entry: Entry;
  /** Of files. */
  readonly source: ContentSource | null;
  /** Hash of the content, if a gate checked it. */
  readonly sha256?: string;
  /** The sandbox that the entry comes from; null: the project. */
  readonly from: string | null;
}

/** The entry on disk. */
export interface DiskState extends PathState {
  readonly stamp: Stamp;
  /** Of files. */
  readonly identity: FileIdentity | null;
  /** The number of its hard links, in the project or elsewhere. */
  readonly names: number;
}

export class PlannedProject {
  readonly planned = new Map<BytePath, PathState | null>();
  readonly #project: string;
  readonly #folders: Folders;
  readonly #seen = new Map<BytePath, DiskState | null>();
  /** How many entries are planned in a folder. */
  readonly #children = new Map<BytePath, number>();

  constructor(project: string) {
    this.#project = project;
    this.#folders = new Folders(project);
  }

  look(path: BytePath): PathState | null {
    const planned = this.planned.get(path);
    return planned === undefined ? this.onDisk(path) : planned;
  }

  onDisk(path: BytePath): DiskState | null {
    const seen = this.#seen.get(path);
    if (seen !== undefined) return seen;
    const real = this.#see(path);
    this.#seen.set(path, real);
    return real;
  }

  /**
   * The nearest entry above a path if that is not a folder; null: none is in the way, though folders may be missing.
   */
  obstacle(path: BytePath): PathState | null {
    for (let folder = parentOf(path); folder !== ''; folder = parentOf(folder)) {
      const state = this.look(folder);
      if (state) return state.entry.type === 'folder' ? null : state;
    }
    return null;
  }

  plan(path: BytePath, state: PathState | null): void {
    const before = this.planned.get(path) ? 1 : 0;
    const folder = parentOf(path);
    this.planned.set(path, state);
    this.#children.set(folder, (this.#children.get(folder) ?? 0) + (state ? 1 : 0) - before);
  }

  /** The folders above a path that are missing, the outermost first. */
  missingAbove(path: BytePath): BytePath[] {
    const missing: BytePath[] = [];
    for (let folder = parentOf(path); folder !== '' && this.look(folder) === null; folder = parentOf(folder))
      missing.unshift(folder);
    return missing;
  }

  isEmpty(folder: BytePath): boolean {
    if ((this.#children.get(folder) ?? 0) > 0) return false;
    const opened = this.onDisk(folder) && this.#folders.open(folder);
    if (!opened) return true;
    const names = readdirSync(`/proc/self/fd/${opened.fd}`, { encoding: 'buffer' });
    return names.every((name) => this.planned.get(`${folder}/${fromBytes(name)}`) === null);
  }

  close(): void {
    this.#folders.close();
  }

  #see(path: BytePath): DiskState | null {
    const location = this.#folders.locate(path);
    const stats = location && lookAt(location);
    if (!stats) return null;
    const stamp = stampOf(stats, location);
    const source: ContentSource | null =
      stamp.type === 'file' ? { from: 'content', content: { at: 'tree', root: this.#project }, path } : null;
    const identity = source && identityOf(stats);
    return { entry: entryOf(stamp), source, from: null, stamp, identity, names: Number(stats.nlink) };
  }
}
