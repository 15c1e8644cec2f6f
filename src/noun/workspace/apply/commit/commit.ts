/**
 * Carries the steps of a plan out in a project, as a whole or not at all.
 *
 * Everything new is first staged in a private folder inside the project, on the same filesystem. Then each file is
 * exchanged with its predecessor in one rename, and the entry that came out is compared with the one that the plan
 * expected; a difference rolls everything back, unless `remake` plans that path again. `recover` completes what a crash
 * interrupts.
 */
import { randomBytes } from 'node:crypto';
import { fstatSync } from 'node:fs';
import { Anchor, within } from '../../../../lib/file/anchor.ts';
import { isErrno } from '../../../../lib/file/file.ts';
import { crashPoint } from '../../../../lib/flow/crash-point.ts';
import { syncFilesystem } from '../../../../lib/sys/sys.ts';
import { toText } from '../../../../model/byte-path.ts';
import { asFault, Fault } from '../../../../model/fault.ts';
import { type Reader, reading } from '../../tree/reader.ts';
import type { ApplyPlan, ApplyStep, Remake } from '../apply.ts';
import { findJournal, type Journal, type JournalStep, makeJournalFolder, writeJournal } from '../journal.ts';
import { ApplyStage } from '../stage/stage.ts';
import { makeStaging, openStaging } from '../stage/staging.ts';
import { cleanUp, finishFirst, rollBack } from './finish.ts';

/**
 * Each apply has its own `journalFolder`, outside of the project. After a failure the project is as it was and the
 * journal is removed, unless a path could not be rolled back. A plan without steps writes no journal. `meta` is any
 * JSON that the caller wants to keep.
 */
export function commitApply(
  plan: Pick<ApplyPlan, 'blocked' | 'steps'>,
  project: string,
  journalFolder: string,
  meta: unknown,
  how: Committing = {},
): void {
  if (plan.blocked) throw new Fault('conflict', 'conflicts or gated changes block the apply; nothing was changed');
  if (plan.steps.length > 0) commitSteps(plan.steps, project, journalFolder, meta, how);
}

export interface Committing {
  /** Plans a path again that the owner has changed since the plan. Absent: such a change rolls the apply back. */
  readonly remake?: Remake | undefined;
  /** Reads the content to stage; the caller closes it. */
  readonly reader?: Reader;
}

export function commitSteps(
  steps: readonly ApplyStep[],
  project: string,
  folder: string,
  meta: unknown,
  { remake, reader }: Committing = {},
): void {
  const staging = `.carrel-apply-${randomBytes(6).toString('hex')}`;
  const journal: Journal = { version: 1, state: 'staging', project, staging, meta, steps: [], left: [] };
  const ready = orRollBack(folder, journal, () =>
    reader ? stage(folder, journal, steps, reader) : reading((own) => stage(folder, journal, steps, own)),
  );
  orRollBack(folder, ready, () => finishFirst(folder, ready, remake ?? null));
  cleanUp(ready);
}

function stage(folder: string, journal: Journal, steps: readonly ApplyStep[], reader: Reader): Journal {
  makeJournalFolder(folder);
  writeJournal(folder, journal);
  const owner = within(Anchor.reach(journal.project), ({ fd }) => fstatSync(fd));
  makeStaging(journal);
  crashPoint('apply:staging-made');
  const prepared = within(openStaging(journal)!, (staging) => {
    const done = stageAll(new ApplyStage(staging, owner, reader), steps);
    syncFilesystem(staging.fd);
    return done;
  });
  crashPoint('apply:staged');
  const ready: Journal = { ...journal, state: 'ready', steps: prepared };
  writeJournal(folder, ready);
  crashPoint('apply:ready');
  return ready;
}

function stageAll(stage: ApplyStage, steps: readonly ApplyStep[]): JournalStep[] {
  try {
    return stage.prepare(steps);
  } finally {
    stage.close();
  }
}

function orRollBack<T>(folder: string, journal: Journal, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const left = rollBack(folder, findJournal(folder) ?? journal);
    if (left.length === 0) throw foreseen(error);
    throw new Fault('conflict', `${foreseen(error).message}; not all of it could be taken back`, {
      cause: error,
      hint: `These were changed meanwhile: ${left.map(toText).join(', ')}. What they were before is in ${folder}/old.`,
      data: { left },
    });
  }
}

function foreseen(error: unknown): Fault {
  if (['EACCES', 'EPERM', 'EROFS'].some((code) => isErrno(error, code)))
    return new Fault('denied', `the project cannot be written to: ${(error as Error).message}`, { cause: error });
  if (isErrno(error, 'EXDEV'))
    return new Fault('unsupported', 'another filesystem is mounted inside the project, where changes were made', {
      cause: error,
    });
  return asFault(error);
}
