/**
 * Changes to files below a folder. `flush` answers with every change that was made before it was called: the kernel
 * queues the event of a change before the change returns to its process, and the event loop reads all queued events
 * whenever it polls.
 *
 * Links are not followed, and folders that tools fill for themselves are left out. If the kernel has no watches left,
 * or the filesystem does not send all events, folders are compared with their state at the last `flush`.
 */
import { existsSync, type FSWatcher, watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setImmediate as polled } from 'node:timers/promises';
import { namesIn } from '../../../../../lib/file/names-in.ts';
import { isFolder, sendsEvents, stampOf } from './tree-stamp.ts';

export type ChangeKind = 'created' | 'changed' | 'deleted';
/** By path, relative to the folder. */
export type TreeChanges = ReadonlyMap<string, ChangeKind>;

const leftOut = new Set(['.git', '.hg', '.svn', '__pycache__']);
/** Files that mark a folder of caches or of a Python environment. */
const marks = ['CACHEDIR.TAG', 'pyvenv.cfg'];
const maxWatched = 8000;
const maxFolders = 50_000;

interface Folder {
  /** Null: each `flush` compares the folder. */
  watcher: FSWatcher | null;
  /** Stamps by name. */
  readonly entries: Map<string, string>;
}

export class TreeWatch {
  readonly #root: string;
  readonly #folders = new Map<string, Folder>();
  readonly #canWatch: boolean;
  #changes = new Map<string, ChangeKind>();

  constructor(root: string) {
    this.#root = root;
    this.#canWatch = sendsEvents(root);
    this.#add('', false);
  }

  /** The changes since the last `flush`. */
  async flush(): Promise<TreeChanges> {
    // The poll that may run now may have looked before the change. Between the two waits there is a whole poll.
    await polled();
    await polled();
    for (const [path, folder] of [...this.#folders]) if (folder.watcher === null) this.#compare(path, folder);
    const changes = this.#changes;
    this.#changes = new Map();
    return changes;
  }

  /** Whether changes of this file are reported. */
  has(path: string): boolean {
    const folder = this.#folders.get(path.includes('/') ? dirname(path) : '');
    const stamp = folder?.entries.get(basename(path));
    return stamp !== undefined && !isFolder(stamp);
  }

  /** Every file. */
  *files(): Generator<string> {
    for (const [path, { entries }] of this.#folders) {
      for (const [name, stamp] of entries) if (!isFolder(stamp)) yield path === '' ? name : `${path}/${name}`;
    }
  }

  dispose(): void {
    for (const { watcher } of this.#folders.values()) watcher?.close();
  }

  /** `report`: the entries of the folder are reported as created. */
  #add(path: string, report: boolean): void {
    if (this.#folders.has(path) || this.#folders.size >= maxFolders) return;
    const folder: Folder = { watcher: null, entries: new Map() };
    this.#folders.set(path, folder);
    // Watched before it is read, so that nothing is missed in between.
    folder.watcher = this.#watch(path);
    this.#compare(path, folder, report);
  }

  #watch(path: string): FSWatcher | null {
    if (!this.#canWatch || this.#folders.size > maxWatched) return null;
    try {
      const watcher = watch(join(this.#root, path), (_, name) => {
        const folder = this.#folders.get(path);
        if (folder?.watcher === watcher && name !== null) this.#look(path, folder, name, true, true);
      });
      // The folder is gone, which the watcher of its parent reports, ignoring.
      watcher.on('error', () => watcher.close());
      return watcher;
    } catch {
      return null;
    }
  }

  /** Compares a folder with what was in it. */
  #compare(path: string, folder: Folder, report = true): void {
    const names = new Set([...folder.entries.keys(), ...namesIn(join(this.#root, path))]);
    for (const name of names) this.#look(path, folder, name, report);
  }

  /** `touched`: there was an event, so the content may have changed within the resolution of its time stamps. */
  #look(path: string, folder: Folder, name: string, report: boolean, touched = false): void {
    if (leftOut.has(name)) return;
    const here = path === '' ? name : `${path}/${name}`;
    const before = folder.entries.get(name) ?? null;
    const now = stampOf(join(this.#root, here));
    if (now === before && (!touched || now === null || isFolder(now))) return;
    if (isFolder(before)) this.#drop(here);
    if (now === null) folder.entries.delete(name);
    else folder.entries.set(name, now);
    if (isFolder(now) && this.#isEntered(path, here)) this.#add(here, report);
    if (report) this.#note(here, before, now);
  }

  /** Of installed packages only the list is watched, not their files. */
  #isEntered(path: string, here: string): boolean {
    return basename(path) !== 'node_modules' && !marks.some((mark) => existsSync(join(this.#root, here, mark)));
  }

  #note(path: string, before: string | null, now: string | null): void {
    const was = before !== null && !isFolder(before);
    const is = now !== null && !isFolder(now);
    if (!was && !is) return;
    const noted = this.#changes.get(path);
    const isNew = noted === undefined ? !was : noted === 'created';
    if (isNew && !is) this.#changes.delete(path);
    else this.#changes.set(path, is ? (isNew ? 'created' : 'changed') : 'deleted');
  }

  /** Forgets a folder and reports all files that were in it as deleted. */
  #drop(path: string): void {
    const folder = this.#folders.get(path);
    if (folder === undefined) return;
    this.#folders.delete(path);
    folder.watcher?.close();
    for (const [name, stamp] of folder.entries) {
      if (isFolder(stamp)) this.#drop(`${path}/${name}`);
      else this.#note(`${path}/${name}`, stamp, null);
    }
  }
}
