/** Rotated files: `NAME` is the newest, `NAME.1` the one before it, and so on. */
import { constants, openSync, renameSync, rmSync, statSync } from 'node:fs';

/** The default limits of log files. */
export const logBytes = 10 * 1024 * 1024;
export const logFiles = 5;

/** Newest first. */
export function generationNames(name: string, files: number): string[] {
  return Array.from({ length: files }, (_, age) => (age === 0 ? name : `${name}.${age}`));
}

/** Frees the name `path`: with the next file of that name there are at most this many. */
export function rotate(path: string, files: number): void {
  makeRoom(generationNames(path, files));
}

/** Opens a log for this account alone, and creates it if absent. A link is refused. */
export function openLog(path: string): number {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  return openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
}

/** Opens the log for a process that is about to start. The log of earlier ones is rotated if it is full. */
export function openNextLog(path: string): number {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) >= logBytes) rotate(path, logFiles);
  return openLog(path);
}

/**
 * Frees the first of these names: each file takes the next name, and the last one is removed. After a crash between two
 * steps one name is free, and the files after it stay.
 */
export function makeRoom(names: readonly string[]): void {
  const free = names.findIndex((name) => statSync(name, { throwIfNoEntry: false }) === undefined);
  const last = free < 0 ? names.length - 1 : free;
  if (free < 0) rmSync(names[last]!);
  for (let age = last; age > 0; age -= 1) renameSync(names[age - 1]!, names[age]!);
}
