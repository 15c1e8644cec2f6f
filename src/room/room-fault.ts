/** Errors of SQLite and of the filesystem under a room, as Faults. */
import { statfsSync } from 'node:fs';
import { asFault, Fault, spaceHint } from '../model/fault.ts';

export function translated<T>(folder: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw roomFault(folder, error);
  }
}

export function roomFault(folder: string, error: unknown): Fault {
  if (error instanceof Fault) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const cause = error;
  if (/^(SQLITE_FULL|ENOSPC|EDQUOT)/.test(code) || (/^SQLITE_(IOERR|CANTOPEN)/.test(code) && isFull(folder))) {
    return new Fault('exhausted', `the disk has no space for the room ${folder}`, { cause, hint: spaceHint });
  }
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return damaged(folder, cause);
  if (/^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(code)) {
    return new Fault('unavailable', `another program uses the database of the room ${folder}`, { cause });
  }
  if (/^(SQLITE_(READONLY|PERM|AUTH)|EACCES|EPERM|EROFS)/.test(code)) {
    return new Fault('denied', `the room ${folder} cannot be written`, {
      cause,
      hint: 'The folder and all in it must be writable for the account of the daemon.',
    });
  }
  if (/^(ENOENT|ENOTDIR)/.test(code)) return new Fault('not_found', `the room ${folder} is not there`, { cause });
  if (/^(SQLITE_(IOERR|CANTOPEN)|EIO)/.test(code)) {
    return new Fault('unavailable', `the room ${folder} cannot be read: ${(error as Error).message}`, { cause });
  }
  return asFault(error);
}

export function damaged(folder: string, cause: unknown): Fault {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Fault('corrupt', `the database of the room ${folder} is damaged: ${why}`, {
    cause,
    hint: `Move ${folder} away and create the room again; its messages are files in processed/.`,
  });
}

function isFull(folder: string): boolean {
  const { bavail, bsize, files, ffree } = statfsSync(folder);
  return bavail * bsize < 64 * 1024 || (files > 0 && ffree < 2);
}
