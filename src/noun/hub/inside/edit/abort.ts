/**
 * Takes an edit back, from the last step to the first. The files say how far each step came, so an abort that was cut short can be repeated.
 * A file that another process changed after its step is left as it is, and the old content stays in the journal's folder.
 */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { isRefusal } from '../../../../lib/file/bounded-read.ts';
import { isErrno } from '../../../../lib/file/file.ts';
import { crashPoint } from '../../../../lib/flow/crash-point.ts';
import { isFault } from '../../../../model/fault.ts';
import type { AbortedEdit, EditId } from '../../model/edit.ts';
import { type ResolvedPath, withResolvedPath } from '../file/path.ts';
import { hasHash, syncFolders } from './apply.ts';
import { claimJournal, hasBegun, readJournal, type Step, unmark } from './journal.ts';

export function abortEdit(root: string, { id }: EditId): AbortedEdit {
  const folder = claimJournal(root, id);
  if (folder === null) return { left: [] };
  const steps = readJournal(folder) ?? [];
  const left: string[] = [];
  for (const [index, step] of [...steps.entries()].reverse()) {
    if (!isTakenBack(root, join(folder, String(index)), step)) left.push(step.path);
    crashPoint(`abort:step:${index}`);
  }
  syncFolders(root, folder, steps);
  if (left.length === 0) rmSync(folder, { recursive: true, force: true });
  else keepOld(folder);
  return { left };
}

/** Keeps content that was not restored, for the user. Removes the steps, so that the folder is no journal any more. */
function keepOld(folder: string): void {
  for (const name of readdirSync(folder)) if (!/\.(old|moved)$/.test(name)) rmSync(join(folder, name));
}

/** False: another process changed the path meanwhile. */
function isTakenBack(root: string, kept: string, step: Step): boolean {
  try {
    if (step.act === 'move' || step.act === 'makeFolder' || step.act === 'removeFolder')
      return !hasBegun(kept) || isReversed(root, kept, step);
    return withResolvedPath(root, step.path, { follow: false }, (resolved) => isRestored(resolved, kept, step));
  } catch (error) {
    // The folder of the path is gone, or a link is in its place.
    if (isFault(error, 'not_found') || isFault(error, 'invalid') || isFault(error, 'conflict')) return !isKept(kept);
    throw error;
  }
}

function isRestored(
  resolved: ResolvedPath,
  kept: string,
  step: Step & { act: 'write' | 'create' | 'remove' },
): boolean {
  if (step.act === 'write') return restoreWritten(resolved, kept, step.hash);
  if (step.act === 'create') return removeCreated(resolved, kept, step.hash);
  return restoreRemoved(resolved, kept);
}

function isReversed(root: string, kept: string, step: Step & { act: 'move' | 'makeFolder' | 'removeFolder' }): boolean {
  const done = withResolvedPath(root, step.path, { follow: false }, (resolved) => {
    if (step.act === 'move') return moveBack(root, resolved, step.to, kept);
    return step.act === 'makeFolder' ? removeMade(resolved) : makeAgain(resolved, step.mode);
  });
  crashPoint('abort:reversed');
  if (done) unmark(kept);
  return done;
}

function restoreWritten(resolved: ResolvedPath, kept: string, hash: string): boolean {
  // The new content is still staged, or the old one is back already.
  if (existsSync(`${kept}.new`) || !existsSync(`${kept}.old`)) return true;
  if (!isContent(resolved, hash)) return false;
  renameSync(`${kept}.old`, resolved.folder.at(resolved.name));
  return true;
}

function removeCreated(resolved: ResolvedPath, kept: string, hash: string): boolean {
  const there = resolved.folder.look(resolved.name);
  if (there === null || there.ino !== lstatSync(`${kept}.new`).ino) return true;
  if (!isContent(resolved, hash)) return false;
  unlinkSync(resolved.folder.at(resolved.name));
  return true;
}

function restoreRemoved(resolved: ResolvedPath, kept: string): boolean {
  if (!isKept(kept)) return true;
  if (resolved.folder.look(resolved.name) !== null) return false;
  renameSync(`${kept}.old`, resolved.folder.at(resolved.name));
  return true;
}

function moveBack(root: string, from: ResolvedPath, to: string, kept: string): boolean {
  const isFree = from.folder.look(from.name) === null;
  if (lstatSync(`${kept}.moved`, { throwIfNoEntry: false })) {
    if (isFree) renameSync(`${kept}.moved`, from.folder.at(from.name));
    return isFree;
  }
  // It was not moved yet, or is back already.
  if (!isFree) return true;
  return withResolvedPath(root, to, { follow: false }, (target) => {
    if (target.folder.look(target.name) === null) return false;
    renameSync(target.folder.at(target.name), from.folder.at(from.name));
    return true;
  });
}

function removeMade(resolved: ResolvedPath): boolean {
  try {
    rmdirSync(resolved.folder.at(resolved.name));
    return true;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return true;
    if (isErrno(error, 'ENOTEMPTY') || isErrno(error, 'ENOTDIR')) return false;
    throw error;
  }
}

function makeAgain(resolved: ResolvedPath, mode: number): boolean {
  if (resolved.folder.look(resolved.name) !== null) return true;
  mkdirSync(resolved.folder.at(resolved.name));
  chmodSync(resolved.folder.at(resolved.name), mode);
  return true;
}

function isContent(resolved: ResolvedPath, hash: string): boolean {
  try {
    return hasHash(resolved.folder.at(resolved.name), hash);
  } catch (error) {
    if (isRefusal(error, 'link') || isRefusal(error, 'not_regular') || isRefusal(error, 'too_large')) return false;
    throw error;
  }
}

/** Whether the journal still has what the step took away. */
function isKept(kept: string): boolean {
  return ['.old', '.moved'].some((end) => lstatSync(kept + end, { throwIfNoEntry: false }) !== undefined);
}
