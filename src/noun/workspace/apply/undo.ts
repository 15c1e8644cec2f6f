/**
 * Undoes an apply by putting back the entries that it replaced. Every path must still have what the apply put there,
 * the same file or an equal one; otherwise nothing is done. Folders into which the owner has put something stay.
 */
import { join } from 'node:path';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { type BytePath, toText } from '../../../model/byte-path.ts';
import { Fault } from '../../../model/fault.ts';
import { Folders, lookAt } from '../tree/folders.ts';
import { Reader } from '../tree/reader.ts';
import type { ApplyStep } from './apply.ts';
import { commitSteps } from './commit/commit.ts';
import {
  type Journal,
  type JournalStep,
  moveKept,
  readJournal,
  removeKept,
  type Swap,
  undoFolder,
  writeJournal,
} from './journal.ts';
import { inOrder } from './plan/steps-of.ts';
import { type Stamp, stampOf } from './stamp.ts';

type Rmdir = JournalStep & { do: 'rmdir' };
type Chmod = JournalStep & { do: 'chmod' };

/**
 * Returns the paths that were undone. What the journal kept is moved into the empty folder `trash`, on the same filesystem, for
 * the caller to remove; without one it is removed here.
 */
export function undoApply(folder: string, trash: string | null = null): BytePath[] {
  const journal = readJournal(folder);
  if (journal.state !== 'done') throw new Fault('conflict', `this apply is ${journal.state}, so it cannot be undone`);
  const steps = new Undoing(folder, journal).steps();
  commitSteps(inOrder(steps), journal.project, undoFolder(folder), null);
  completeUndo(folder, journal, trash);
  return [...new Set(journal.steps.map(({ path }) => path))].sort();
}

/** Marks the apply as undone after the project is restored, and removes the kept entries or moves them to `trash`. */
export function completeUndo(folder: string, journal = readJournal(folder), trash: string | null = null): void {
  writeJournal(folder, { ...journal, state: 'undone' });
  crashPoint('apply:undo-marked');
  if (trash === null) removeKept(folder);
  else moveKept(folder, trash);
}

class Undoing {
  readonly #kept: string;
  readonly #journal: Journal;
  readonly #folders: Folders;
  readonly #reader = new Reader();
  readonly #changed: BytePath[] = [];
  /** Paths at which the apply put an entry. */
  readonly #put: ReadonlySet<BytePath>;

  constructor(folder: string, journal: Journal) {
    this.#kept = join(folder, 'old');
    this.#journal = journal;
    this.#folders = new Folders(journal.project);
    this.#put = new Set(journal.steps.filter((step) => step.do === 'swap' && step.put).map(({ path }) => path));
  }

  steps(): ApplyStep[] {
    try {
      const sorted = this.#journal.steps.toSorted((a, b) => (a.path < b.path ? -1 : Number(a.path > b.path)));
      const steps = sorted.flatMap((step) => this.#inverse(step));
      if (this.#changed.length > 0) throw changedSince(this.#changed);
      return steps;
    } finally {
      this.#reader.close();
      this.#folders.close();
    }
  }

  #inverse(step: JournalStep): ApplyStep[] {
    const now = this.#look(step.path);
    if (step.do === 'rmdir') return this.#inverseOfRmdir(step, now);
    if (step.do === 'chmod') return this.#inverseOfChmod(step, now);
    if (!this.#isAsPut(step, now)) return this.#refuse(step.path);
    return [...this.#out(step, now), ...this.#back(step, now)];
  }

  #inverseOfRmdir({ path, old }: Rmdir, now: Stamp | null): ApplyStep[] {
    if (now?.type === 'folder') return [];
    // If the apply put a file in its place, an earlier step removes that file.
    if (now !== null && !this.#put.has(path)) return this.#refuse(path);
    return [{ do: 'mkdir', path, old: null, make: { mode: old.mode, owner: { uid: old.uid, gid: old.gid } } }];
  }

  #inverseOfChmod({ path, ino, from, to }: Chmod, now: Stamp | null): ApplyStep[] {
    if (this.#put.has(path) || now?.mode === from) return [];
    if (now?.mode !== to) return this.#refuse(path);
    // Another file may have taken the path; if it has other names, perhaps outside of the project, they keep its mode.
    if (now.type === 'file' && now.ino !== ino && this.#namesOf(path) > 1) return this.#refuse(path);
    return [{ do: 'chmod', path, old: now, mode: from }];
  }

  /** Takes the new entry out. No step is needed if it is exchanged with the old one. */
  #out({ path, old, put }: Swap, now: Stamp | null): ApplyStep[] {
    if (now === null) return [];
    if (put?.type === 'folder') return [{ do: 'rmdir', path, old: now, kept: old === null }];
    return old === null ? [{ do: 'remove', path, old: now }] : [];
  }

  #back({ path, slot, old }: Swap, now: Stamp | null): ApplyStep[] {
    if (old === null) return [];
    const replaces = now?.type === 'folder' ? null : now;
    return [{ do: 'restore', path, old: replaces, kept: join(this.#kept, `${slot}`), was: old }];
  }

  #isAsPut({ path, put, hash }: Swap, now: Stamp | null): boolean {
    if (put === null || now === null) return now === put || put?.type === 'folder';
    if (now.type !== put.type) return false;
    if (put.type === 'folder') return true;
    if (put.type === 'link') return now.target === put.target;
    if (now.mode !== put.mode || now.sizeBytes !== put.sizeBytes) return false;
    return (now.ino === put.ino && now.mtimeNs === put.mtimeNs) || this.#hashOf(path) === hash;
  }

  #hashOf(path: BytePath): string | null {
    const root = this.#journal.project;
    return this.#reader.hash({ from: 'content', content: { at: 'tree', root }, path });
  }

  #look(path: BytePath): Stamp | null {
    const location = this.#folders.locate(path);
    const stats = location && lookAt(location);
    return stats && stampOf(stats, location);
  }

  /** The number of hard links to the file. */
  #namesOf(path: BytePath): number {
    return Number(this.#folders.look(path)?.nlink ?? 0);
  }

  #refuse(path: BytePath): ApplyStep[] {
    this.#changed.push(path);
    return [];
  }
}

function changedSince(paths: readonly BytePath[]): Fault {
  const shown = paths.slice(0, 10).map(toText).join(', ');
  return new Fault('conflict', `changed since it was applied: ${shown}`, {
    hint: 'Nothing was undone. Put these back as they were applied, or undo by hand.',
    data: { paths },
  });
}
