/**
 * Snapshots of a sandbox: its `state` at a moment, kept until the sandbox is removed.
 *
 * Nothing may write the state meanwhile, so the caller pauses or locks the sandbox, and does one operation at a time.
 * Promises:
 * - A snapshot is complete or absent, and costs as much as was changed in the sandbox, not as much as the project has.
 * - Restoring keeps the present state as an automatic snapshot, so a wrong restore is undone by restoring that.
 * - After a crash at any instant `recoverRestore` finishes what was begun, or leaves everything as it was.
 */
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { syncAround } from '../../../lib/file/disk.ts';
import { readIfThere, removeTree, syncFolder, writeWhole } from '../../../lib/file/file.ts';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { Fault } from '../../../model/fault.ts';
import { hasDisk } from './disk.ts';
import {
  findSnapshot,
  finish,
  listSnapshots,
  makeUnfinished,
  nextId,
  removeSnapshot,
  removeUnfinished,
  type Snapshot,
  snapshotState,
  unfinishedPath,
} from './snapshot-list.ts';
import { fillState, openState, renewWork, statePath } from './state.ts';

export { findSnapshot, listSnapshots, removeSnapshot, type Snapshot } from './snapshot-list.ts';
export { copyState } from './state.ts';

export interface SnapshotRequest {
  readonly label: string | null;
  readonly at: string;
  readonly auto: boolean;
  /** A snapshot that must not be removed to make room for this one. */
  readonly spared?: string;
}

const labelPattern = /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,62}$/;
const maxSnapshots = 1000;
const maxAutomatic = 10;

export async function takeSnapshot(sandboxFolder: string, request: SnapshotRequest): Promise<Snapshot> {
  check(sandboxFolder, request);
  await recoverRestore(sandboxFolder);
  const state = await openState(sandboxFolder);
  const id = nextId(sandboxFolder);
  const folder = makeUnfinished(sandboxFolder, id);
  try {
    await fillState(state, join(folder, 'state'));
    crashPoint('snapshot:copied');
    const { label, at: createdAt, auto, spared } = request;
    return await kept(sandboxFolder, { id, label, createdAt, auto }, spared);
  } catch (error) {
    await removeTree(folder);
    throw error;
  }
}

function check(sandboxFolder: string, { label, auto }: SnapshotRequest): void {
  if (label !== null && !labelPattern.test(label)) {
    throw new Fault('invalid', `${JSON.stringify(label)} cannot be the name of a snapshot`, {
      hint: 'Begin with a letter or digit, then letters, digits, spaces and ._-, at most 63 in all.',
    });
  }
  const manual = listSnapshots(sandboxFolder).filter((one) => !one.auto);
  if (auto || manual.length < maxSnapshots - maxAutomatic) return;
  throw new Fault('exhausted', `there are ${manual.length} snapshots of this sandbox already`, {
    hint: 'Remove one with: carrel snapshots NAME --rm SNAPSHOT',
  });
}

async function kept(sandboxFolder: string, facts: Omit<Snapshot, 'sizeBytes'>, spared?: string): Promise<Snapshot> {
  const snapshot = await finish(sandboxFolder, facts);
  const automatic = listSnapshots(sandboxFolder).filter(({ auto }) => auto);
  for (const { id } of automatic.slice(0, -maxAutomatic)) if (id !== spared) await removeSnapshot(sandboxFolder, id);
  return snapshot;
}

/** What is being restored, written before anything is changed. */
interface Journal {
  readonly snapshot: string;
  readonly before: Omit<Snapshot, 'sizeBytes'>;
}

function journalPath(sandboxFolder: string): string {
  return join(sandboxFolder, 'restore.json');
}

function newStatePath(sandboxFolder: string): string {
  return `${statePath(sandboxFolder)}.new`;
}

/** Returns the automatic snapshot of the state before. */
export async function restoreSnapshot(sandboxFolder: string, id: string, at: string): Promise<Snapshot> {
  await recoverRestore(sandboxFolder);
  const { id: snapshot } = findSnapshot(sandboxFolder, id);
  const label = `before restore of ${snapshot}`;
  await openState(sandboxFolder);
  if (hasDisk(sandboxFolder)) {
    const before = await takeSnapshot(sandboxFolder, { label, at, auto: true, spared: snapshot });
    return resolveRestore(sandboxFolder, note(sandboxFolder, { snapshot, before }));
  }
  await copyAside(snapshotState(sandboxFolder, snapshot), newStatePath(sandboxFolder));
  crashPoint('restore:copied');
  const before = { id: nextId(sandboxFolder), label, createdAt: at, auto: true };
  return resolveRestore(sandboxFolder, note(sandboxFolder, { snapshot, before }));
}

async function copyAside(source: string, target: string): Promise<void> {
  try {
    await fillState(source, target);
    await syncAround(target);
  } catch (error) {
    await removeTree(target);
    throw error;
  }
}

function note(sandboxFolder: string, journal: Journal): Journal {
  writeWhole(journalPath(sandboxFolder), JSON.stringify(journal));
  crashPoint('restore:noted');
  return journal;
}

/** The caller calls this before anything else touches the folder; it does nothing without a journal. */
export async function recoverRestore(sandboxFolder: string): Promise<void> {
  const text = readIfThere(journalPath(sandboxFolder));
  if (text !== null) await resolveRestore(sandboxFolder, JSON.parse(text) as Journal);
  if (existsSync(newStatePath(sandboxFolder))) await removeTree(newStatePath(sandboxFolder));
  await removeUnfinished(sandboxFolder);
}

/** Once the journal is written, a restore is always finished. */
async function resolveRestore(sandboxFolder: string, journal: Journal): Promise<Snapshot> {
  if (hasDisk(sandboxFolder)) await refillFrom(sandboxFolder, journal);
  else await swap(sandboxFolder, journal.before);
  endRestore(sandboxFolder);
  return findSnapshot(sandboxFolder, journal.before.id);
}

function endRestore(sandboxFolder: string): void {
  rmSync(journalPath(sandboxFolder));
  syncFolder(sandboxFolder);
}

/** If the snapshot is gone, the state before comes back, and the Fault is thrown once. */
async function refillFrom(sandboxFolder: string, { snapshot, before }: Journal): Promise<void> {
  if (existsSync(snapshotState(sandboxFolder, snapshot))) return refill(sandboxFolder, snapshot);
  if (existsSync(snapshotState(sandboxFolder, before.id))) await refill(sandboxFolder, before.id);
  endRestore(sandboxFolder);
  throw new Fault('corrupt', `snapshot ${snapshot} was removed while it was being restored`, {
    hint: 'The sandbox is as it was before, as far as that is still there.',
  });
}

/** The present state becomes a snapshot by a rename. */
async function swap(sandboxFolder: string, before: Journal['before']): Promise<void> {
  const [state, next] = [statePath(sandboxFolder), newStatePath(sandboxFolder)];
  const aside = join(unfinishedPath(sandboxFolder, before.id), 'state');
  if (existsSync(next) && existsSync(state)) {
    makeUnfinished(sandboxFolder, before.id);
    crashPoint('restore:begun');
    renameSync(state, aside);
    crashPoint('restore:set-aside');
  }
  if (existsSync(next)) renameSync(next, state);
  syncFolder(sandboxFolder);
  crashPoint('restore:swapped');
  if (!existsSync(aside)) return;
  syncFolder(dirname(aside));
  for (const name of ['workspace', 'home']) await renewWork(join(aside, name));
  await kept(sandboxFolder, before);
  crashPoint('restore:kept');
}

/** A disk has no room for two states and cannot be renamed: it is emptied, and filled again. */
async function refill(sandboxFolder: string, snapshot: string): Promise<void> {
  const state = await openState(sandboxFolder);
  for (const name of readdirSync(state)) await removeTree(join(state, name));
  crashPoint('restore:emptied');
  await fillState(snapshotState(sandboxFolder, snapshot), state);
  await syncAround(state);
  crashPoint('restore:filled');
}
