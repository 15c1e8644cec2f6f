/** Errors of SQLite and of the filesystem under it, as Faults. */
import { dirname } from 'node:path';
import {
  errorCode,
  isDamage,
  isDiskFull,
  isUnreachable,
  translated as translatedBy,
} from '../../lib/data/database-fault.ts';
import { asFault, Fault, type FaultCode, spaceHint } from '../../model/fault.ts';
import { damaged } from './migrations.ts';

export function translated<T>(path: string, work: () => T): T {
  return translatedBy(work, (error) => toFault(path, error));
}

interface Translation {
  readonly codes: RegExp;
  readonly code: FaultCode;
  readonly problem: string;
  readonly hint: string;
}

const translations: readonly Translation[] = [
  {
    codes: /^(SQLITE_FULL|SQLITE_NOMEM|SQLITE_TOOBIG|ENOSPC|EDQUOT)/,
    code: 'exhausted',
    problem: 'has no space left',
    hint: spaceHint,
  },
  {
    codes: /^SQLITE_(BUSY|LOCKED|PROTOCOL)/,
    code: 'unavailable',
    problem: 'is locked by another process',
    hint: 'Try again, or end the process that holds it.',
  },
  {
    codes: /^(SQLITE_(READONLY|PERM|AUTH)|EACCES|EPERM|EROFS)/,
    code: 'denied',
    problem: 'cannot be written',
    hint: 'The file and its folder must be readable and writable for the user of the daemon.',
  },
  {
    codes: /^(ENOENT|ENOTDIR)/,
    code: 'not_found',
    problem: 'cannot be created: its folder does not exist',
    hint: 'Create the folder first.',
  },
  {
    codes: /^(SQLITE_(IOERR|CANTOPEN)|EIO|EMFILE|ENFILE)/,
    code: 'unavailable',
    problem: 'cannot be reached',
    hint: 'See what the kernel says about its filesystem (dmesg).',
  },
];

function toFault(path: string, error: unknown): Fault {
  if (error instanceof Fault) return error;
  const found = errorCode(error);
  if (isDamage(error) || error instanceof SyntaxError) {
    return damaged(path, `is damaged: ${asFault(error).message}`, error);
  }
  if (found === 'ERR_DLOPEN_FAILED') return otherNode(error);
  const code = isUnreachable(found) && isDiskFull(dirname(path)) ? 'SQLITE_FULL' : found;
  const match = translations.find(({ codes }) => codes.test(code));
  if (!match) return asFault(error);
  return new Fault(match.code, `the store ${path} ${match.problem} (${found})`, { cause: error, hint: match.hint });
}

function otherNode(cause: unknown): Fault {
  return new Fault('unsupported', `better-sqlite3 was built for another Node.js than ${process.version}`, {
    cause,
    hint: `Run ./setup in the folder of Carrel, or put the Node.js that it ran with before ${process.execPath} on the PATH.`,
  });
}

/**
 * Refuses a new row if the disk is full. Later writes, the removal of the row included, need space, too: a row that
 * takes the last of it could not be removed.
 */
export function refuseIfFull(path: string): void {
  if (isDiskFull(dirname(path)))
    throw new Fault('exhausted', `the disk has no space for a new record in ${path}`, { hint: spaceHint });
}
