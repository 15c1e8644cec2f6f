/** Brings what a journal describes to its end: forwards, or back to where it began. */
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { Anchor, within } from '../../lib/anchor.ts';
import { crashPoint } from '../../lib/crash-point.ts';
import { isErrno } from '../../lib/file.ts';
import { syncFilesystem } from '../../lib/sys.ts';
import type { BytePath } from '../../model/byte-path.ts';
import { Fault } from '../../model/fault.ts';
import type { Remake } from './apply.ts';
import { CarryOut } from './carry-out.ts';
import { findJournal, type Journal, markTakenBack, removeJournal, writeJournal } from './journal.ts';
import { isStaged, openStaging, removeStaging } from './staging.ts';

/** Does all that a ready journal says. `conflict`: the project is no longer what it was, and `rollBack` is due. */
export function finish(folder: string, journal: Journal): void {
  committing(folder, journal, (commit) => {
    commit.fetchOld();
    commit.do();
    keep(folder, journal, commit);
  });
  writeJournal(folder, { ...journal, state: 'done' });
}

/** The same of a journal of which nothing was done before, with a way to make anew what the owner changes meanwhile. */
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

/** All of it is on disk then, and only then the journal may say so. */
function keep(folder: string, journal: Journal, commit: CarryOut): void {
  crashPoint('apply:steps-done');
  if (!commit.holdsOldAlone() || !keptWhole(folder, journal)) commit.keepOld();
  crashPoint('apply:old-kept');
}

/** Nothing depends on it any more: what cannot be removed now goes with the next `recover`. */
export function cleanUp(journal: Journal): void {
  crashPoint('apply:done');
  try {
    removeStaging(journal);
  } catch {
    // ignoring
  }
  crashPoint('apply:cleaned');
}

/** Says what could not be taken back, because somebody else has changed it since. */
export function rollBack(folder: string, journal: Journal): readonly BytePath[] {
  const left = journal.state === 'ready' ? takeBack(folder, journal) : [];
  if (findJournal(folder)) markTakenBack(folder);
  crashPoint('apply:taken-back');
  return forget(folder, { ...journal, left });
}

/** Of a journal that is taken back and was not cleaned up. */
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

/** What the project gave up is all that is left in the staging folder: that becomes `old`. False on another filesystem. */
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

/** A crash came after `keptWhole`. */
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
