/** Errors of SQLite and of the filesystem under a memory, as Faults. */

import { statfsSync } from 'node:fs';
import { isDamage } from '../lib/durable-database.ts';
import { asFault, Fault, spaceHint } from '../model/fault.ts';

export function translated<T>(folder: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw memoryFault(folder, error);
  }
}

export function memoryFault(folder: string, error: unknown): Fault {
  if (error instanceof Fault) return error;
  const code = codeOf(error);
  const cause = error;
  if (/^(SQLITE_FULL|ENOSPC|EDQUOT)/.test(code) || (/^SQLITE_(IOERR|CANTOPEN)/.test(code) && isFull(folder))) {
    return new Fault('exhausted', `the disk has no space for the memory in ${folder}`, { cause, hint: spaceHint });
  }
  if (isDamage(error)) {
    return new Fault('corrupt', `the memory in ${folder} is damaged: ${(error as Error).message}`, {
      cause,
      hint: 'The next request checks the file, and sets it aside if it cannot be used: see carrel memory stats.',
    });
  }
  if (/^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(code)) {
    return new Fault('unavailable', `another program uses the memory in ${folder}`, { cause });
  }
  if (/^(SQLITE_(READONLY|PERM|AUTH)|EACCES|EPERM|EROFS)/.test(code)) {
    return new Fault('denied', `the memory in ${folder} cannot be written`, {
      cause,
      hint: 'The folder and all in it must be writable for the account of the daemon.',
    });
  }
  if (/^(SQLITE_(IOERR|CANTOPEN)|EIO|ENOENT)/.test(code)) {
    return new Fault('unavailable', `the memory in ${folder} cannot be read: ${(error as Error).message}`, { cause });
  }
  return asFault(error);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function isFull(folder: string): boolean {
  const { bavail, bsize, files, ffree } = statfsSync(folder);
  return bavail * bsize < 64 * 1024 || (files > 0 && ffree < 2);
}
