/** Does the steps of a journal, or takes them back. Both may be repeated after a crash. */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lchownSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { Anchor } from '../../lib/anchor.ts';
import { crashPoint } from '../../lib/crash-point.ts';
import { isErrno } from '../../lib/file.ts';
import { syncFilesystem } from '../../lib/sys.ts';
import { type BytePath, toText } from '../../model/byte-path.ts';
import { Fault } from '../../model/fault.ts';
import { Folders, lookAt, pathOf, type Spot } from '../tree/folders.ts';
import type { Journal, JournalStep, Swap } from './journal.ts';
import { copyAs } from './stage.ts';
import { isIt } from './stamp.ts';
import { Swapping } from './swap.ts';

type Rmdir = JournalStep & { do: 'rmdir' };
type Chmod = JournalStep & { do: 'chmod' };

const O_PATH = 0o10000000;

export class CarryOut {
  private readonly old: string;
  private readonly steps: readonly JournalStep[];
  private readonly folders: Folders;
  private readonly staging: Anchor;

  constructor(journalFolder: string, journal: Journal, staging: Anchor) {
    this.old = join(journalFolder, 'old');
    this.steps = journal.steps;
    this.folders = new Folders(journal.project);
    this.staging = staging;
  }

  /** Throws `conflict` where the project is no longer what the journal expects. */
  do(): void {
    this.steps.forEach((step, n) => {
      if (!this.doOne(step)) throw changedMeanwhile([step.path]);
      crashPoint(`apply:step:${n}`);
    });
    const wrong = this.swaps().filter((swap) => !this.swapping(swap).isRight());
    if (wrong.length > 0) throw changedMeanwhile(wrong.map(({ path }) => path));
    syncFilesystem(this.staging.fd);
  }

  /** What could not be taken back, because somebody has changed it since. */
  takeBack(): BytePath[] {
    this.folders.forget();
    const left = this.steps.toReversed().filter((step) => !this.undoOne(step));
    syncFilesystem(this.staging.fd);
    return left.map(({ path }) => path).sort();
  }

  /** Moves what the project gave up out of it. */
  keepOld(): void {
    for (const swap of this.swaps()) {
      const displaced = this.swapping(swap).displaced();
      if (displaced) keep(displaced, this.kept(swap), swap);
    }
    syncFolderFilesystem(this.old);
  }

  /** Undoes `keepOld`, so that steps can be told apart again. */
  fetchOld(): void {
    if (readdirSync(this.old).length === 0) return;
    for (const swap of this.swaps()) {
      if (this.swapping(swap).displaced() !== null) continue;
      const aside = this.staging.at(`${swap.slot}.old`);
      ignoring(['ENOENT', 'EXDEV'], () => renameSync(this.kept(swap), aside));
    }
  }

  close(): void {
    this.folders.close();
  }

  private swaps(): Swap[] {
    return this.steps.filter((step) => step.do === 'swap' && step.old !== null) as Swap[];
  }

  private kept({ slot }: Swap): string {
    return join(this.old, `${slot}`);
  }

  private swapping(swap: Swap): Swapping {
    return new Swapping(swap, this.folders.spot(swap.path), this.staging);
  }

  private doOne(step: JournalStep): boolean {
    if (step.do === 'swap') return this.swapping(step).do();
    const spot = this.folders.spot(step.path);
    return step.do === 'rmdir' ? removeFolder(step, spot) : spot !== null && changeMode(step, spot, step.from, step.to);
  }

  private undoOne(step: JournalStep): boolean {
    if (step.do === 'swap') return this.swapping(step).undo();
    const spot = this.folders.spot(step.path);
    if (step.do === 'rmdir') return spot !== null && restoreFolder(step, spot);
    // Whoever took it away or changed it again has had the last word.
    if (spot !== null) changeMode(step, spot, step.to, step.from);
    return true;
  }
}

export function changedMeanwhile(paths: readonly BytePath[]): Fault {
  const shown = paths.slice(0, 10).map(toText).join(', ');
  return new Fault('conflict', `the project changed meanwhile: ${shown}`, {
    hint: 'Nothing was changed. Try again.',
    data: { paths },
  });
}

function removeFolder({ old, kept }: Rmdir, spot: Spot | null): boolean {
  // What took its place since is for the next steps to judge.
  if (spot === null || !isIt(lookAt(spot), old)) return true;
  try {
    rmdirSync(pathOf(spot));
    return true;
  } catch (error) {
    if (isErrno(error, 'ENOTEMPTY') || isErrno(error, 'EEXIST')) return kept;
    throw error;
  }
}

function restoreFolder({ old }: Rmdir, spot: Spot): boolean {
  const now = lookAt(spot);
  if (now !== null) return now.isDirectory();
  const path = pathOf(spot);
  mkdirSync(path, 0o700);
  ignoring(['EPERM', 'EINVAL'], () => lchownSync(path, old.uid, old.gid));
  chmodSync(path, old.mode);
  return true;
}

/** Of that very thing. Where the mode is neither, somebody else has changed it. */
function changeMode({ ino }: Chmod, spot: Spot, from: number, to: number): boolean {
  const fd = tryOpen(pathOf(spot));
  if (fd === null) return false;
  try {
    const stats = fstatSync(fd, { bigint: true });
    const mode = Number(stats.mode & 0o7777n);
    if (`${stats.ino}` !== ino || (mode !== from && mode !== to)) return false;
    if (mode !== to) chmodSync(`/proc/self/fd/${fd}`, to);
    return true;
  } finally {
    closeSync(fd);
  }
}

function tryOpen(path: string | Buffer): number | null {
  try {
    return openSync(path, O_PATH | constants.O_NOFOLLOW);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    throw error;
  }
}

function keep(spot: Spot, to: string, swap: Swap): void {
  const from = pathOf(spot);
  try {
    renameSync(from, to);
  } catch (error) {
    if (!isErrno(error, 'EXDEV')) throw error;
    rmSync(to, { force: true });
    copyAs(from, to, swap.old!);
  }
}

function syncFolderFilesystem(path: string): void {
  const folder = Anchor.reach(path);
  try {
    syncFilesystem(folder.fd);
  } finally {
    folder.close();
  }
}

function ignoring(codes: readonly string[], work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!codes.some((code) => isErrno(error, code))) throw error;
  }
}
