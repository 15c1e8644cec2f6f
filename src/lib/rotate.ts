/** Files that begin anew when they are full: `NAME` is the newest, `NAME.1` the one before it, and so on. */
import { renameSync, rmSync, statSync } from 'node:fs';

/** What log files are allowed unless somebody says otherwise. */
export const logBytes = 10 * 1024 * 1024;
export const logFiles = 5;

/** Newest first. */
export function generationNames(name: string, files: number): string[] {
  return Array.from({ length: files }, (_, age) => (age === 0 ? name : `${name}.${age}`));
}

/** Makes room at `path`, so that with the file that comes there next there are at most so many. */
export function rotate(path: string, files: number): void {
  makeRoom(generationNames(path, files));
}

/** For whoever is about to open a log that somebody else has left. */
export function rotateIfFull(path: string): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) >= logBytes) rotate(path, logFiles);
}

/**
 * Frees the first of these names: each file takes the next name, and the last one goes. Where a crash came between two
 * steps a name is free, and nothing after it has to move or go.
 */
export function makeRoom(names: readonly string[]): void {
  const free = names.findIndex((name) => statSync(name, { throwIfNoEntry: false }) === undefined);
  const last = free < 0 ? names.length - 1 : free;
  if (free < 0) rmSync(names[last]!);
  for (let age = last; age > 0; age -= 1) renameSync(names[age - 1]!, names[age]!);
}
