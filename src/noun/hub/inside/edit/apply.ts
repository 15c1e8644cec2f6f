/** Carries out the steps of a prepared edit. Each fails if the path is not as it was when the edit was prepared. */
import {
  chmodSync,
  constants,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  type Stats,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { readBounded } from '../../../../lib/file/bounded-read.ts';
import { isErrno, syncFolder } from '../../../../lib/file/file.ts';
import { crashPoint } from '../../../../lib/flow/crash-point.ts';
import { Fault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';
import type { EditId } from '../../model/edit.ts';
import { maxFileBytes, type Nothing } from '../../model/spoke.ts';
import { hashOf } from '../file/content.ts';
import { type ResolvedPath, withResolvedPath } from '../file/path.ts';
import { journalFolder, markBegun, readJournal, type Step, unmark } from './journal.ts';

export function applyEdit(root: string, { id }: EditId): Nothing {
  const folder = journalFolder(root, id);
  const steps = readJournal(folder);
  if (steps === null) throw new Fault('conflict', `the edit ${id} is not prepared`);
  for (const [index, step] of steps.entries()) {
    carryOut(root, join(folder, String(index)), step);
    crashPoint(`edit:step:${index}`);
  }
  syncFolders(root, folder, steps);
  return {};
}

/** `kept` is the start of the paths of this step in the journal. */
function carryOut(root: string, kept: string, step: Step): void {
  withResolvedPath(root, step.path, { follow: false }, (resolved) => {
    if (step.act === 'write') write(resolved, kept, step.wasHash);
    else if (step.act === 'create') create(resolved, kept);
    else if (step.act === 'remove') remove(resolved, kept, step.wasHash);
    else if (step.act === 'move') move(root, resolved, step.to, kept);
    else if (step.act === 'makeFolder') makeFolder(resolved, kept, step.mode);
    else removeFolder(resolved, kept);
  });
}

/** The old file is kept before it is compared, so what is compared is what an abort restores. */
function write(resolved: ResolvedPath, kept: string, wasHash: string): void {
  const here = resolved.folder.at(resolved.name);
  keep(here, `${kept}.old`);
  const before = lstatSync(`${kept}.old`);
  const there = lstatSync(here);
  if (!hasHash(`${kept}.old`, wasHash) || !isUnchanged(here, there)) throw changed(resolved.path);
  crashPoint('edit:kept');
  renameSync(`${kept}.new`, here);
  // A process that has the file open may have written to it since.
  if (!isUnchanged(`${kept}.old`, before)) throw changed(resolved.path);
}

function isUnchanged(path: string | Buffer, was: Stats): boolean {
  const now = lstatSync(path, { throwIfNoEntry: false });
  return now !== undefined && now.ino === was.ino && now.size === was.size && now.mtimeMs === was.mtimeMs;
}

/** Keeps a link, so that an abort restores the file itself, or a copy if links are not allowed. */
function keep(here: Buffer, there: string): void {
  try {
    linkSync(here, there);
  } catch (error) {
    if (!['EPERM', 'EMLINK', 'ENOTSUP', 'EXDEV'].some((code) => isErrno(error, code))) throw error;
    copyFileSync(here, there, constants.COPYFILE_EXCL);
  }
}

function create(resolved: ResolvedPath, kept: string): void {
  try {
    linkSync(`${kept}.new`, resolved.folder.at(resolved.name));
  } catch (error) {
    throw isErrno(error, 'EEXIST') ? changed(resolved.path) : error;
  }
}

function remove(resolved: ResolvedPath, kept: string, wasHash: string | null): void {
  renameSync(resolved.folder.at(resolved.name), `${kept}.old`);
  if (wasHash !== null && !hasHash(`${kept}.old`, wasHash)) throw changed(resolved.path);
}

function move(root: string, from: ResolvedPath, to: string, kept: string): void {
  withResolvedPath(root, to, { follow: false }, (target) => {
    if (target.folder.look(target.name) !== null) throw changed(to);
    markBegun(kept);
    renameSync(from.folder.at(from.name), `${kept}.moved`);
    crashPoint('edit:moving');
    renameSync(`${kept}.moved`, target.folder.at(target.name));
  });
}

function makeFolder(resolved: ResolvedPath, kept: string, mode: number): void {
  markBegun(kept);
  try {
    mkdirSync(resolved.folder.at(resolved.name));
  } catch (error) {
    unmark(kept);
    throw isErrno(error, 'EEXIST') ? changed(resolved.path) : error;
  }
  crashPoint('edit:made');
  chmodSync(resolved.folder.at(resolved.name), mode);
}

function removeFolder(resolved: ResolvedPath, kept: string): void {
  markBegun(kept);
  try {
    rmdirSync(resolved.folder.at(resolved.name));
  } catch (error) {
    throw isErrno(error, 'ENOTEMPTY') ? changed(resolved.path) : error;
  }
}

export function hasHash(path: string | Buffer, hash: string): boolean {
  const found = readBounded(path, maxFileBytes);
  return found !== null && hashOf(found.bytes) === hash;
}

function changed(path: string): Fault {
  return new Fault('conflict', `${printable(path)} was changed while the edit was applied`, { hint: 'Try again.' });
}

/** Syncs every folder in which a name changed; folders that are gone are skipped. */
export function syncFolders(root: string, journal: string, steps: readonly Step[]): void {
  const paths = steps.flatMap((step) => (step.act === 'move' ? [step.path, step.to] : [step.path]));
  for (const folder of new Set([journal, ...paths.map((path) => dirname(join(root, path)))])) {
    try {
      syncFolder(folder);
    } catch (error) {
      if (!isErrno(error, 'ENOENT') && !isErrno(error, 'ENOTDIR')) throw error;
    }
  }
}
