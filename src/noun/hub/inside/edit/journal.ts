/**
 * The journal of an edit: a folder in the project itself, because a rename is atomic only within one mount.
 *
 *   .carrel-edit-ID/journal.json   the steps; written last, so a folder without it was never prepared
 *   .carrel-edit-ID/N.new          the new content of step N
 *   .carrel-edit-ID/N.old          what step N replaced or removed
 *   .carrel-edit-ID/N.moved        what step N is moving
 *   .carrel-edit-ID/N.begun        step N moves something, makes or removes a folder, and has begun
 *
 * Every step goes through this folder, by its path. To abort, the folder is renamed first: a program that still applies the edit, because
 * its daemon was killed, finds no folder and stops.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno, syncFolder, writeWhole } from '../../../../lib/file/file.ts';
import { Fault } from '../../../../model/fault.ts';

export type Step =
  | { readonly act: 'write'; readonly path: string; readonly hash: string; readonly wasHash: string }
  | { readonly act: 'create'; readonly path: string; readonly hash: string }
  /** No hash: it is no file, or a large one. */
  | { readonly act: 'remove'; readonly path: string; readonly wasHash: string | null }
  | { readonly act: 'move'; readonly path: string; readonly to: string }
  | { readonly act: 'makeFolder'; readonly path: string; readonly mode: number }
  | { readonly act: 'removeFolder'; readonly path: string; readonly mode: number };

export function journalFolder(root: string, id: string): string {
  if (!/^[0-9a-f]{16}$/.test(id)) throw new Fault('invalid', 'the id of an edit has 16 hexadecimal digits');
  return join(root, `.carrel-edit-${id}`);
}

const journalName = 'journal.json';

export function writeJournal(folder: string, steps: readonly Step[]): void {
  writeWhole(join(folder, journalName), JSON.stringify(steps));
}

/** Null: the edit was not prepared. */
export function readJournal(folder: string): readonly Step[] | null {
  try {
    return JSON.parse(readFileSync(join(folder, journalName), 'utf8')) as Step[];
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    throw error;
  }
}

/** Renames the journal's folder for an abort and returns its path; null: there is no journal. */
export function claimJournal(root: string, id: string): string | null {
  const folder = journalFolder(root, id);
  const claimed = `${folder}-abort`;
  if (existsSync(folder)) {
    renameSync(folder, claimed);
    syncFolder(root);
  }
  return existsSync(claimed) ? claimed : null;
}

/** Marks a step as begun. Necessary for steps whose result in the project could also come from another step. */
export function markBegun(kept: string): void {
  writeFileSync(`${kept}.begun`, '');
}

export function hasBegun(kept: string): boolean {
  return existsSync(`${kept}.begun`);
}

export function unmark(kept: string): void {
  rmSync(`${kept}.begun`, { force: true });
}
