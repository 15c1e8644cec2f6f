/**
 * The run that a test belongs to. It has an id and a temporary folder named after it. Entries of tests in places that
 * the whole machine shares (control groups, /dev/shm) have the id in their name or are noted here, so that a run is
 * checked for its own leftovers only. Without a run, as in a benchmark, the id is `norun` and the folder that of the
 * system.
 */
import { randomBytes } from 'node:crypto';
import { appendFileSync, chmodSync, mkdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Run } from '../leftover.ts';
import { isRealRoot } from './machine.ts';
import { mountRunDisk, unmountRunDisk } from './run-disk.ts';

const variable = 'CARREL_TEST_RUN';

/**
 * Opens a run for this process and all that it starts. Its path is short, since that of a socket has at most 107 bytes.
 */
export function openRun(): void {
  if (process.env[variable] !== undefined) return;
  const id = randomBytes(3).toString('hex');
  const folder = join(tmpdir(), `carrel-${id}`);
  mkdirSync(folder);
  if (hasDisk()) mountRunDisk(folder);
  // Other accounts make folders there, as in /tmp.
  chmodSync(folder, 0o1777);
  process.env[variable] = id;
  process.env.TMPDIR = folder;
  process.once('exit', () => removeEmpty(folder));
}

/** A run has a disk only in a mount namespace of its own, which scripts/test.mjs makes. */
function hasDisk(): boolean {
  return isRealRoot && process.env.CARREL_TEST_DISK === '1';
}

export function removeRunFolder({ folder }: Run): void {
  if (hasDisk()) unmountRunDisk(folder);
  rmSync(folder, { recursive: true, force: true });
}

/** Removes the folder if it is empty, since nothing else does when vitest only lists tests. */
function removeEmpty(folder: string): void {
  if (hasDisk()) unmountRunDisk(folder);
  try {
    rmdirSync(folder);
  } catch {
    // The folder is gone, or has leftovers, ignoring.
  }
}

/** The environment by which a program with an otherwise clean environment is recognised and finds the run's folder. */
export function runEnv(): Readonly<Record<string, string>> {
  return process.env[variable] === undefined ? {} : { [variable]: runId(), TMPDIR: tmpdir() };
}

function runId(): string {
  return process.env[variable] ?? 'norun';
}

/** A name with the id of the run, for control groups and folders in /dev/shm. */
export function markedName(name: string): string {
  return `carrel-${runId()}-${name}`;
}

/** The id of an installation that has no home. */
export function installationId(): string {
  return `${runId()}${randomBytes(4).toString('hex')}`;
}

/** Notes an installation whose home is in the run's folder: its id comes from the path and does not name the run. */
export function noteInstallation(installation: string): void {
  if (process.env[variable] !== undefined) appendFileSync(noteFile(), `${installation}\n`);
}

function noteFile(): string {
  return join(tmpdir(), 'installations');
}

export function currentRun(): Run {
  return { id: runId(), folder: tmpdir(), installations: notedInstallations() };
}

function notedInstallations(): string[] {
  try {
    return readFileSync(noteFile(), 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}
