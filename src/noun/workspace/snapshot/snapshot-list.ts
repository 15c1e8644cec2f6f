/** The snapshots of a sandbox: `snapshots/<id>`, each complete, with a `snapshot.json` beside its `state`. */
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { diskUsage, syncAround } from '../../../lib/file/disk.ts';
import { readIfThere, removeTree, syncFolder, writeWhole } from '../../../lib/file/file.ts';
import { Fault } from '../../../model/fault.ts';

export interface Snapshot {
  /** Counts up, so that later ids sort after earlier ones. */
  readonly id: string;
  readonly label: string | null;
  readonly createdAt: string;
  /**
   * Taken automatically before something that could not be undone otherwise; the oldest of these are removed
   * automatically.
   */
  readonly auto: boolean;
  readonly sizeBytes: number;
}

const idPattern = /^\d{4,}$/;
const unfinished = '.new-';

function snapshotsPath(sandboxFolder: string): string {
  return join(sandboxFolder, 'snapshots');
}

export function snapshotState(sandboxFolder: string, id: string): string {
  return join(snapshotsPath(sandboxFolder), id, 'state');
}

export function unfinishedPath(sandboxFolder: string, id: string): string {
  return join(snapshotsPath(sandboxFolder), `${unfinished}${id}`);
}

/** Oldest first. */
export function listSnapshots(sandboxFolder: string): readonly Snapshot[] {
  return names(sandboxFolder)
    .filter((name) => idPattern.test(name))
    .map((id) => read(sandboxFolder, id))
    .sort((a, b) => Number(a.id) - Number(b.id));
}

function names(sandboxFolder: string): string[] {
  const folder = snapshotsPath(sandboxFolder);
  return existsSync(folder) ? readdirSync(folder) : [];
}

function read(sandboxFolder: string, id: string): Snapshot {
  const path = join(snapshotsPath(sandboxFolder), id, 'snapshot.json');
  try {
    return JSON.parse(readIfThere(path) ?? '') as Snapshot;
  } catch (error) {
    throw new Fault('corrupt', `${path} cannot be read`, { cause: error });
  }
}

/** Finds a snapshot by id, or the newest one with a label. */
export function findSnapshot(sandboxFolder: string, idOrLabel: string): Snapshot {
  const known = listSnapshots(sandboxFolder);
  const newest = [...known].reverse();
  const found = newest.find(({ id }) => id === idOrLabel) ?? newest.find(({ label }) => label === idOrLabel);
  if (found) return found;
  throw new Fault('not_found', `no snapshot ${idOrLabel}`, { hint: hintAt(newest) });
}

const shownInHint = 10;

function hintAt(newest: readonly Snapshot[]): string {
  if (newest.length === 0) return 'The sandbox has none yet; save one with: carrel snapshot NAME';
  const shown = newest.slice(0, shownInHint).map(({ id, label }) => (label === null ? id : `${id} (${label})`));
  return `There is ${shown.join(', ')}${newest.length > shownInHint ? ', …' : ''}.`;
}

export function nextId(sandboxFolder: string): string {
  const used = names(sandboxFolder).filter((name) => idPattern.test(name));
  return String(Math.max(0, ...used.map(Number)) + 1).padStart(4, '0');
}

/** A complete folder under a temporary name becomes the snapshot by a rename. */
export async function finish(sandboxFolder: string, facts: Omit<Snapshot, 'sizeBytes'>): Promise<Snapshot> {
  const folder = unfinishedPath(sandboxFolder, facts.id);
  const snapshot = { ...facts, sizeBytes: await diskUsage(join(folder, 'state')) };
  writeWhole(join(folder, 'snapshot.json'), JSON.stringify(snapshot));
  await syncAround(folder);
  renameSync(folder, join(snapshotsPath(sandboxFolder), facts.id));
  syncFolder(snapshotsPath(sandboxFolder));
  return snapshot;
}

export function makeUnfinished(sandboxFolder: string, id: string): string {
  const folder = unfinishedPath(sandboxFolder, id);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** The snapshot disappears at once by a rename; its files are removed after that. */
export async function removeSnapshot(sandboxFolder: string, id: string): Promise<void> {
  const [from, to] = [join(snapshotsPath(sandboxFolder), id), unfinishedPath(sandboxFolder, `gone-${id}`)];
  if (!idPattern.test(id)) throw new Fault('not_found', `no snapshot ${id}`);
  if (!existsSync(from)) return;
  await removeTree(to);
  renameSync(from, to);
  await removeTree(to);
}

/** Removes what a crash left of snapshots that were being taken or removed. */
export async function removeUnfinished(sandboxFolder: string): Promise<void> {
  const left = names(sandboxFolder).filter((name) => name.startsWith(unfinished));
  for (const name of left) await removeTree(join(snapshotsPath(sandboxFolder), name));
}
