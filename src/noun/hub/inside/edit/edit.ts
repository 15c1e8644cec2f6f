/**
 * An edit of many files: prepared, then applied, then finished; or aborted at any time. `edit-plan.ts` turns its changes into steps,
 * `apply.ts` carries them out, `abort.ts` takes them back. `journal.ts` has the layout on the disk: with it another process can
 * abort the edit after a crash.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolder } from '../../../../lib/file/file.ts';
import { makeFile } from '../../../../lib/file/make-file.ts';
import { crashPoint } from '../../../../lib/flow/crash-point.ts';
import { unifiedDiff } from '../../../../lib/text/diff.ts';
import {
  type ChangedFile,
  type EditId,
  maxDiffBytes,
  maxListedFiles,
  type PreparedEdit,
  type PrepareEdit,
} from '../../model/edit.ts';
import type { Nothing } from '../../model/spoke.ts';
import { asRefusal } from '../file/path.ts';
import { EditPlan, type StagedContent } from './edit-plan.ts';
import { journalFolder, type Step, writeJournal } from './journal.ts';

export function prepareEdit(root: string, { id, changes, dryRun }: PrepareEdit): PreparedEdit {
  const plan = new EditPlan(root);
  for (const change of changes) plan.add(change);
  const files = plan.steps.flatMap(changedFile);
  if (!dryRun) stage(root, journalFolder(root, id), plan);
  const [diff, diffTruncated] = dryRun ? diffOf(plan) : ['', false];
  return { files: files.slice(0, maxListedFiles), count: files.length, diff, diffTruncated };
}

function changedFile(step: Step): ChangedFile[] {
  const { path } = step;
  if (step.act === 'write') return [{ path, outcome: 'changed', to: null, hash: step.hash }];
  if (step.act === 'create') return [{ path, outcome: 'created', to: null, hash: step.hash }];
  if (step.act === 'move') return [{ path, outcome: 'renamed', to: step.to, hash: null }];
  return step.act === 'remove' ? [{ path, outcome: 'deleted', to: null, hash: null }] : [];
}

function stage(root: string, folder: string, { steps, staged }: EditPlan): void {
  try {
    mkdirSync(folder, 0o700);
    crashPoint('edit:folder');
    for (const [index, one] of staged) makeFile(join(folder, `${index}.new`), one);
    crashPoint('edit:staged');
    writeJournal(folder, steps);
    syncFolder(root);
    crashPoint('edit:journaled');
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw asRefusal('the edit', error);
  }
}

/** The diff, and whether a part of it was left out. */
function diffOf({ steps, staged }: EditPlan): [string, boolean] {
  const parts: string[] = [];
  let bytes = 0;
  for (const [index, step] of steps.entries()) {
    const part = diffOfStep(step, staged.get(index));
    bytes += Buffer.byteLength(part);
    if (bytes > maxDiffBytes) return [parts.join(''), true];
    parts.push(part);
  }
  return [parts.join(''), false];
}

function diffOfStep(step: Step, staged: StagedContent | undefined): string {
  if (staged) return unifiedDiff(step.path, staged.before, staged.bytes);
  if (step.act === 'move') return `rename from ${step.path}\nrename to ${step.to}\n`;
  return step.act === 'remove' ? `deleted ${step.path}\n` : '';
}

/** Removes the journal of an edit. Does nothing if the edit was never prepared. */
export function finishEdit(root: string, { id }: EditId): Nothing {
  rmSync(journalFolder(root, id), { recursive: true, force: true });
  return {};
}
