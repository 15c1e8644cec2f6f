/** Carries the steps of a journal out, or rolls them back. Both may be repeated after a crash. */
import { mkdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Anchor } from '../../../../lib/file/anchor.ts';
import { isErrno } from '../../../../lib/file/file.ts';
import { namesOf } from '../../../../lib/file/folder-names.ts';
import { crashPoint } from '../../../../lib/flow/crash-point.ts';
import { statOf } from '../../../../lib/sys/stat.ts';
import { syncFilesystem } from '../../../../lib/sys/sys.ts';
import { type BytePath, fromText } from '../../../../model/byte-path.ts';
import { type EntryLocation, Folders, lookAt, pathOf } from '../../tree/folders.ts';
import { setMode, setOwner, withEntryOpen, withNewEntryOpen } from '../../tree/open-entry.ts';
import type { Remake } from '../apply.ts';
import type { Journal, JournalStep, Swap } from '../journal.ts';
import { copyAs } from '../stage/copy-as.ts';
import { isIt } from '../stamp.ts';
import { changedMeanwhile } from './changed.ts';
import { Retry } from './retry.ts';
import { Swapping } from './swap.ts';

type Rmdir = JournalStep & { do: 'rmdir' };
type Chmod = JournalStep & { do: 'chmod' };

export class CarryOut {
  readonly #old: Anchor;
  #steps: readonly JournalStep[];
  readonly #folders: Folders;
  readonly #staging: Anchor;

  constructor(journalFolder: string, journal: Journal, staging: Anchor) {
    this.#folders = new Folders(journal.project);
    this.#old = openOr(join(journalFolder, 'old'), () => this.#folders.close());
    this.#steps = journal.steps;
    this.#staging = staging;
  }

  /** Throws `conflict` if the project is no longer what the journal expects. */
  do(): void {
    this.#steps.forEach((step, n) => {
      if (!this.#doOne(step, false)) throw changedMeanwhile([step.path]);
      crashPoint(`apply:step:${n}`);
    });
    this.#check();
  }

  /**
   * Like `do`, for a journal of which no step was carried out yet. Files that the owner has changed since the plan are
   * made again, and `note` records the steps as they are then.
   */
  doFirst(remake: Remake | null, note: (steps: readonly JournalStep[]) => void): void {
    const retry = remake && new Retry(this.#staging, this.#folders, remake);
    const moved = this.#steps.filter((step, n) => {
      const done = this.#doOne(step, true);
      if (!done && !retry?.canMake(step)) throw changedMeanwhile([step.path]);
      crashPoint(`apply:step:${n}`);
      return !done;
    });
    if (retry) moved.push(...this.#takeOutWrong(retry));
    if (retry && moved.length > 0) this.#makeAgain(retry, moved, note);
    // Otherwise `#takeOutWrong` has just compared every swap.
    if (retry === null || moved.length > 0) this.#check();
  }

  #takeOutWrong(retry: Retry): Swap[] {
    const wrong = this.#swaps().filter((swap) => !this.#isRight(swap) && this.#swapping(swap).isDone());
    const stuck = wrong.filter((swap) => !this.#swapping(swap).undo() || !retry.canMake(swap));
    if (stuck.length > 0) throw changedMeanwhile(stuck.map(({ path }) => path));
    return wrong;
  }

  #makeAgain(retry: Retry, moved: readonly JournalStep[], note: (steps: readonly JournalStep[]) => void): void {
    this.#steps = this.#steps.map((step) =>
      moved.includes(step) ? { ...(step as Swap), again: true as const } : step,
    );
    note(this.#steps);
    crashPoint('apply:making-again');
    this.#steps = this.#steps.map((step) => (step.do === 'swap' && step.again ? retry.make(step) : step));
    crashPoint('apply:made-again');
    note(this.#steps);
  }

  #check(): void {
    const wrong = this.#swaps().filter((swap) => !this.#isRight(swap));
    if (wrong.length > 0) throw changedMeanwhile(wrong.map(({ path }) => path));
  }

  /** Returns the paths that could not be rolled back because they were changed since. */
  takeBack(): BytePath[] {
    this.#folders.forget();
    const left = this.#steps.toReversed().filter((step) => !this.#undoOne(step));
    crashPoint('apply:put-back');
    // A process may have written to a rolled-back file that it had open; such a file goes back into the project.
    left.push(...this.#steps.filter((step) => !left.includes(step) && step.do === 'swap' && !this.#isBack(step)));
    syncFilesystem(this.#staging.fd);
    return left.map(({ path }) => path).sort();
  }

  /** True: the staging folder holds exactly the entries that came out of the project. */
  holdsOldAlone(): boolean {
    const given = new Set(this.#swaps().map(({ slot }) => `${slot}`));
    const names = namesOf(this.#staging.fd);
    return names.length === given.size && names.every((name) => given.has(name));
  }

  /** Moves the entries that came out of the project to the journal. */
  keepOld(): void {
    for (const swap of this.#swaps()) {
      const displaced = this.#swapping(swap).displaced();
      if (displaced) keep(displaced, this.#kept(swap), swap);
    }
    for (const { fd } of [this.#staging, this.#old]) syncFilesystem(fd);
  }

  /** Reverts `keepOld`, so that the state of each step can be read from the staging folder again. */
  fetchOld(): void {
    if (this.#old.names().length === 0) return;
    for (const swap of this.#swaps()) {
      if (this.#swapping(swap).displaced() !== null) continue;
      const aside = this.#staging.at(`${swap.slot}.old`);
      ignoring(['ENOENT', 'EXDEV'], () => renameSync(pathOf(this.#kept(swap)), aside));
    }
  }

  close(): void {
    this.#folders.close();
    this.#old.close();
  }

  #swaps(): Swap[] {
    return this.#steps.filter((step) => step.do === 'swap' && step.old !== null) as Swap[];
  }

  #kept({ slot }: Swap): EntryLocation {
    return { folder: this.#old, name: fromText(`${slot}`) };
  }

  /** Reads the staging folder only; no folder of the project is opened. */
  #isRight(swap: Swap): boolean {
    return new Swapping(swap, null, this.#staging).isRight();
  }

  #swapping(swap: Swap): Swapping {
    return new Swapping(swap, this.#folders.locate(swap.path), this.#staging);
  }

  #doOne(step: JournalStep, fresh: boolean): boolean {
    if (step.do === 'swap') return this.#swapping(step).do(fresh);
    const location = this.#folders.locate(step.path);
    return step.do === 'rmdir'
      ? removeFolder(step, location)
      : location !== null && changeMode(step, location, step.from, step.to);
  }

  #isBack(swap: Swap): boolean {
    return this.#swapping(swap).isBack();
  }

  #undoOne(step: JournalStep): boolean {
    if (step.do === 'swap') return this.#swapping(step).undo();
    const location = this.#folders.locate(step.path);
    if (step.do === 'rmdir') return location !== null && restoreFolder(step, location);
    // If another program removed the entry or changed its mode meanwhile, that stays.
    if (location !== null) changeMode(step, location, step.to, step.from);
    return true;
  }
}

function removeFolder({ old, kept }: Rmdir, location: EntryLocation | null): boolean {
  // If another entry has taken the folder's place, a later step compares it.
  if (location === null || !isIt(lookAt(location), old)) return true;
  try {
    rmdirSync(pathOf(location));
    return true;
  } catch (error) {
    if (isErrno(error, 'ENOTEMPTY') || isErrno(error, 'EEXIST')) return kept;
    throw error;
  }
}

function restoreFolder({ old }: Rmdir, location: EntryLocation): boolean {
  const now = lookAt(location);
  if (now !== null) return now.isDirectory();
  mkdirSync(pathOf(location), 0o700);
  withNewEntryOpen(location, 'folder', (fd) => {
    setOwner(fd, old);
    setMode(fd, old.mode);
  });
  return true;
}

/** False: the inode differs, or another program has set a mode that is neither of the two. */
function changeMode({ ino }: Chmod, location: EntryLocation, from: number, to: number): boolean {
  const changed = withEntryOpen(location, (fd) => {
    const stats = statOf(fd);
    const mode = Number(stats.mode & 0o7777n);
    if (`${stats.ino}` !== ino || (mode !== from && mode !== to)) return false;
    if (mode !== to) setMode(fd, to);
    return true;
  });
  return changed ?? false;
}

function keep(from: EntryLocation, to: EntryLocation, { old }: Swap): void {
  try {
    renameSync(pathOf(from), pathOf(to));
  } catch (error) {
    if (!isErrno(error, 'EXDEV')) throw error;
    rmSync(pathOf(to), { force: true });
    copyAs(from, to, old!);
  }
}

function openOr(path: string, clean: () => void): Anchor {
  try {
    return Anchor.reach(path);
  } catch (error) {
    clean();
    throw error;
  }
}

function ignoring(codes: readonly string[], work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!codes.some((code) => isErrno(error, code))) throw error;
  }
}
