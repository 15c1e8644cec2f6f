/**
 * The journal of one apply: a private folder outside of any project.
 *
 *   journal.json   the steps and their state; renamed to journal.back when it is rolled back
 *   old/N          what step N took out of the project, for `undo`
 *   undo/          the journal of the undo of this apply
 *
 * Life: staging → ready → done → undone. Before `ready` the project is not touched, and after a crash the apply is
 * rolled back; from `ready` on it is finished. The journal of an apply that was rolled back is removed, unless some
 * paths could not be rolled back.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno, readIfThere, syncFolder, writeWhole } from '../../../lib/file/file.ts';
import type { BytePath } from '../../../model/byte-path.ts';
import { Fault } from '../../../model/fault.ts';
import type { Stamp } from './stamp.ts';

export type JournalState = 'staging' | 'ready' | 'done' | 'undone' | 'rolled-back';

/** `put` waits in the staging folder under the number of its slot, and is exchanged with `old`. */
export interface Swap {
  readonly do: 'swap';
  readonly path: BytePath;
  readonly slot: number;
  readonly old: Stamp | null;
  readonly put: Stamp | null;
  /** SHA-256 of a file that was made. */
  readonly hash: string | null;
  /**
   * True: the owner changed the path meanwhile. The staged file is being written again, so its size and `old` are not
   * known yet.
   */
  readonly again?: true;
}

export type JournalStep =
  | Swap
  | { readonly do: 'rmdir'; readonly path: BytePath; readonly old: Stamp; readonly kept: boolean }
  | { readonly do: 'chmod'; readonly path: BytePath; readonly ino: string; readonly from: number; readonly to: number };

export interface Journal {
  readonly version: 1;
  readonly state: JournalState;
  readonly project: string;
  /** A folder in the project. */
  readonly staging: string;
  /** JSON of the caller about this apply. */
  readonly meta: unknown;
  readonly steps: readonly JournalStep[];
  /** Paths that could not be rolled back because they were changed since. What they replaced is in `old`. */
  readonly left: readonly BytePath[];
}

export function readJournal(folder: string): Journal {
  const journal = findJournal(folder);
  if (journal) return journal;
  throw new Fault('not_found', `there is no journal in ${folder}`);
}

export function findJournal(folder: string): Journal | null {
  return read(folder, 'journal.json');
}

/** The journal of a rollback that a crash interrupted; null: there is none. */
export function readTakenBack(folder: string): Journal | null {
  return read(folder, 'journal.back');
}

/** Renames the journal, since a rename needs no free space. */
export function markTakenBack(folder: string): void {
  renameSync(join(folder, 'journal.json'), join(folder, 'journal.back'));
  syncFolder(folder);
}

function read(folder: string, name: string): Journal | null {
  const text = readIfThere(join(folder, name));
  if (text === null) return null;
  try {
    const journal = JSON.parse(text) as Journal;
    if (journal.version === 1) return journal;
  } catch (cause) {
    throw new Fault('corrupt', `${folder}/${name} cannot be read`, { cause });
  }
  throw new Fault('unsupported', `${folder}/${name} is of another version of carrel`);
}

export function writeJournal(folder: string, journal: Journal): void {
  const { steps, ...head } = journal;
  writeWhole(join(folder, 'journal.json'), `{"steps":${textOf(steps)},${JSON.stringify(head).slice(1)}`);
}

/** Caches the text: there may be thousands of steps, and they are the same in every state after the first. */
function textOf(steps: Journal['steps']): string {
  const text = texts.get(steps) ?? JSON.stringify(steps);
  texts.set(steps, text);
  return text;
}

const texts = new WeakMap<Journal['steps'], string>();

export function makeJournalFolder(folder: string): void {
  mkdirSync(join(folder, 'old'), { recursive: true, mode: 0o700 });
}

export function undoFolder(folder: string): string {
  return join(folder, 'undo');
}

/** Removes the entries that the journal keeps, which are not needed once the apply is undone. */
export function removeKept(folder: string): void {
  for (const part of [join('undo', 'old'), 'old']) removeFiles(join(folder, part));
  for (const part of ['old', 'undo']) rmSync(join(folder, part), { recursive: true, force: true });
}

/** Moves these entries to `trash` instead: removing thousands of files takes longer than the undo itself. */
export function moveKept(folder: string, trash: string): void {
  for (const part of ['undo', 'old']) renameSync(join(folder, part), join(trash, part));
}

/** Takes half the time of `rmSync` for thousands of files, and leaves folders. */
function removeFiles(folder: string): void {
  for (const entry of existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [])
    if (!entry.isDirectory()) unlinkSync(join(folder, entry.name));
}

/** Removes the parts of the journal, `journal.json` last, and the folder if nothing else is in it. */
export function removeJournal(folder: string): void {
  for (const part of ['old', 'undo', 'journal.json', 'journal.back'])
    rmSync(join(folder, part), { recursive: true, force: true });
  removeHalfWritten(folder);
  try {
    rmdirSync(folder);
  } catch (error) {
    if (!isErrno(error, 'ENOTEMPTY') && !isErrno(error, 'ENOENT')) throw error;
  }
}

/** Removes the temporary files of a journal whose writing a crash interrupted. */
export function removeHalfWritten(folder: string): void {
  for (const name of readdirSync(folder))
    if (name.startsWith('journal.json.')) rmSync(join(folder, name), { force: true });
}
