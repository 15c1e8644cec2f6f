/** Finishes an apply or an undo that a crash interrupted, or rolls it back. May be called at any time, and repeated. */
import { existsSync } from 'node:fs';
import type { BytePath } from '../../../model/byte-path.ts';
import { isFault } from '../../../model/fault.ts';
import { cleanUp, completeRollBack, finish, rollBack } from './commit/finish.ts';
import { findJournal, type Journal, readTakenBack, removeHalfWritten, removeKept, undoFolder } from './journal.ts';
import { removeStaging } from './stage/staging.ts';
import { completeUndo } from './undo.ts';

export interface Recovered {
  /**
   * The state now: `done`: the apply is complete; `undone`: it was undone on request; `rolled-back`: the project is as
   * before the apply; `nothing`: there was no apply.
   */
  readonly outcome: 'done' | 'undone' | 'rolled-back' | 'nothing';
  /** Paths that could not be rolled back because they were changed since. What they were before is in `old`. */
  readonly left: readonly BytePath[];
}

export function recover(folder: string): Recovered {
  if (!existsSync(folder)) return { outcome: 'nothing', left: [] };
  removeHalfWritten(folder);
  const takenBack = readTakenBack(folder);
  if (takenBack) return { outcome: 'rolled-back', left: completeRollBack(folder, takenBack) };
  const journal = findJournal(folder);
  return journal === null ? { outcome: 'nothing', left: [] } : continueFrom(folder, journal);
}

function continueFrom(folder: string, journal: Journal): Recovered {
  if (journal.state === 'staging') return { outcome: 'rolled-back', left: rollBack(folder, journal) };
  if (journal.state === 'ready') return finishOrRollBack(folder, journal);
  if (journal.state === 'rolled-back') return { outcome: 'rolled-back', left: journal.left };
  removeStaging(journal);
  if (journal.state === 'done') return recoverUndo(folder);
  removeKept(folder);
  return { outcome: 'undone', left: [] };
}

function finishOrRollBack(folder: string, journal: Journal): Recovered {
  try {
    finish(folder, journal);
    cleanUp(journal);
    return { outcome: 'done', left: [] };
  } catch (error) {
    if (!isFault(error, 'conflict')) throw error;
    return { outcome: 'rolled-back', left: rollBack(folder, journal) };
  }
}

/** If an undo cannot be finished, the apply stays in effect. */
function recoverUndo(folder: string): Recovered {
  const { outcome, left } = recover(undoFolder(folder));
  if (outcome !== 'done') return { outcome: 'done', left };
  completeUndo(folder);
  return { outcome: 'undone', left: [] };
}
