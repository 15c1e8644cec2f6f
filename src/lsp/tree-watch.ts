/**
 * Changes to files below a folder. `flush` answers with every change that was made before it was called: it writes a file of its own and
 * waits for the event of that, and the kernel keeps the order of events.
 *
 * Links are not followed, and folders that tools fill for themselves are left out. Where events are not to be had, because the kernel has
 * no watches left or the filesystem does not send all events, folders are compared with what was there at the last `flush`.
 */
import { existsSync, type FSWatcher, mkdtempSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { isFolder, namesIn, sendsEvents, stampOf } from './tree-stamp.ts';

export type ChangeKind = 'created' | 'changed' | 'deleted';
/** By path, relative to the folder. */
export type Changes = ReadonlyMap<string, ChangeKind>;

const leftOut = new Set(['.git', '.hg', '.svn', '__pycache__']);
/** Files that mark a folder of caches or of a Python environment. */
const marks = ['CACHEDIR.TAG', 'pyvenv.cfg'];
const maxWatched = 8000;
const maxFolders = 50_000;

interface Folder {
  /** Null: it is compared. */
  watcher: FSWatcher | null;
  /** Stamps by name. */
  readonly entries: Map<string, string>;
}

export class TreeWatch {
  readonly #root: string;
  readonly #own: string;
  readonly #ownWatch: FSWatcher;
  readonly #flushes = new Map<string, () => void>();
  readonly #folders = new Map<string, Folder>();
  readonly #canWatch: boolean;
  #changes = new Map<string, ChangeKind>();
  #last = 0;

  constructor(root: string) {
    this.#root = root;
    this.#canWatch = sendsEvents(root);
    this.#own = mkdtempSync(join(tmpdir(), 'carrel-watch-'));
    this.#ownWatch = watch(this.#own, (_, name) => this.#flushes.get(name ?? '')?.());
    this.#add('', false);
  }

  /** The changes since the last time. */
  async flush(): Promise<Changes> {
    this.#last += 1;
    const name = `${this.#last}`;
    await new Promise<void>((resolve) => {
      this.#flushes.set(name, resolve);
      writeFileSync(join(this.#own, name), '');
    });
    this.#flushes.delete(name);
    rmSync(join(this.#own, name), { force: true });
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
    this.#ownWatch.close();
    for (const { watcher } of this.#folders.values()) watcher?.close();
    rmSync(this.#own, { recursive: true, force: true });
  }

  /** `report`: what is in it is new. */
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
      // The folder is gone, which the one above reports, ignoring.
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

  /** All that was in a folder is gone. */
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
