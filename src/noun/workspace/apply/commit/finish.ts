/** Finishes the apply that a journal describes, or rolls it back. */
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { Anchor, within } from '../../../../lib/file/anchor.ts';
import { isErrno } from '../../../../lib/file/file.ts';
import { crashPoint } from '../../../../lib/flow/crash-point.ts';
import { syncFilesystem } from '../../../../lib/sys/sys.ts';
import type { BytePath } from '../../../../model/byte-path.ts';
import { Fault } from '../../../../model/fault.ts';
import type { Remake } from '../apply.ts';
import { findJournal, type Journal, markTakenBack, removeJournal, writeJournal } from '../journal.ts';
import { isStaged, openStaging, removeStaging } from '../stage/staging.ts';
import { CarryOut } from './carry-out.ts';

/** Carries out a ready journal. Throws `conflict` if the project has changed; the caller then calls `rollBack`. */
export function finish(folder: string, journal: Journal): void {
  committing(folder, journal, (commit) => {
    commit.fetchOld();
    commit.do();
    keep(folder, journal, commit);
  });
  writeJournal(folder, { ...journal, state: 'done' });
}

/**
 * Like `finish`, for a journal of which no step was carried out yet; `remake` plans files again that the owner changes
 * meanwhile.
 */
export function finishFirst(folder: string, journal: Journal, remake: Remake | null): void {
  let latest = journal;
  committing(folder, journal, (commit) => {
    commit.doFirst(remake, (steps) => {
      latest = { ...journal, steps };
      writeJournal(folder, latest);
    });
    keep(folder, journal, commit);
  });
  writeJournal(folder, { ...latest, state: 'done' });
}

/** The journal may say `done` only after everything is on disk. */
function keep(folder: string, journal: Journal, commit: CarryOut): void {
  crashPoint('apply:steps-done');
  if (!commit.holdsOldAlone() || !keptWhole(folder, journal)) commit.keepOld();
  crashPoint('apply:old-kept');
}

/** Removes the staging folder. If that fails, the next `recover` removes it. */
export function cleanUp(journal: Journal): void {
  crashPoint('apply:done');
  try {
    removeStaging(journal);
  } catch {
    // ignoring
  }
  crashPoint('apply:cleaned');
}

/** Returns the paths that could not be rolled back because they were changed since. */
export function rollBack(folder: string, journal: Journal): readonly BytePath[] {
  const left = journal.state === 'ready' ? takeBack(folder, journal) : [];
  if (findJournal(folder)) markTakenBack(folder);
  crashPoint('apply:taken-back');
  return forget(folder, { ...journal, left });
}

/** Cleans up after a rollback that a crash interrupted. */
export function completeRollBack(folder: string, journal: Journal): readonly BytePath[] {
  const isKept = (slot: number) => lstatSync(join(folder, 'old', `${slot}`), { throwIfNoEntry: false }) !== undefined;
  const left = journal.steps.filter((step) => step.do === 'swap' && isKept(step.slot));
  return forget(folder, { ...journal, left: left.map(({ path }) => path) });
}

function forget(folder: string, journal: Journal): readonly BytePath[] {
  removeStaging(journal);
  if (journal.left.length === 0) removeJournal(folder);
  else writeJournal(folder, { ...journal, state: 'rolled-back' });
  return journal.left;
}

function takeBack(folder: string, journal: Journal): BytePath[] {
  return committing(folder, journal, (commit) => {
    commit.fetchOld();
    const left = commit.takeBack();
    if (left.length > 0) commit.keepOld();
    return left;
  });
}

/**
 * Renames the staging folder, which holds only entries from the project, to `old`. False: that is impossible, for
 * example because `old` is on another filesystem.
 */
function keptWhole(folder: string, { project, staging }: Journal): boolean {
  try {
    within(Anchor.reach(project), (root) => renameSync(root.at(staging), join(folder, 'old')));
  } catch (error) {
    if (isErrno(error, 'EXDEV') || isErrno(error, 'ENOTEMPTY') || isErrno(error, 'EEXIST')) return false;
    throw error;
  }
  within(Anchor.reach(folder), ({ fd }) => syncFilesystem(fd));
  return true;
}

/** Reverts `keptWhole` after a crash. */
function fetchWhole(folder: string, { project, staging }: Journal): void {
  const old = join(folder, 'old');
  if (!existsSync(project) || readdirSync(old).length === 0) return;
  within(Anchor.reach(project), (root) => renameSync(old, root.at(staging)));
  mkdirSync(old, { mode: 0o700 });
}

function committing<T>(folder: string, journal: Journal, work: (commit: CarryOut) => T): T {
  if (!isStaged(journal)) fetchWhole(folder, journal);
  const opened = openStaging(journal);
  if (opened === null)
    throw new Fault('unavailable', `${journal.project} is not there, or lacks ${journal.staging}`, {
      hint: 'An apply to it is unfinished. Bring the folder back as it was.',
    });
  return within(opened, (staging) => {
    const commit = new CarryOut(folder, journal, staging);
    try {
      return work(commit);
    } finally {
      commit.close();
    }
  });
}
