/** Errors of SQLite and of the filesystem under a bank, as Faults. */

import { errorCode, isDamage } from '../../../lib/data/database-fault.ts';
import { ReadRefusal } from '../../../lib/file/bounded-read.ts';
import { asFault, Fault, spaceHint } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';

export function bankFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const cause = error;
  if (isDiskFull(error))
    return new Fault('exhausted', 'the disk has no space for the memory bank', { cause, hint: spaceHint });
  if (isDamage(error)) {
    return new Fault('corrupt', `the history of the memory bank is damaged: ${(error as Error).message}`, {
      cause,
      hint: 'The next request sets it aside if it cannot be used: see carrel doctor. The files themselves are not touched.',
    });
  }
  return asFault(error);
}

export function isDiskFull(error: unknown): boolean {
  return /^(SQLITE_FULL|ENOSPC|EDQUOT)/.test(errorCode(error));
}

/** Turns an error at a path of the folder into a Fault: an agent may have put anything there. */
export function pathFault(path: string, error: unknown): unknown {
  const shown = printable(path);
  if (error instanceof ReadRefusal && error.reason === 'too_large')
    return new Fault('exhausted', `${shown} is too large for the tools of the memory bank`, {
      hint: 'Read it as a file.',
    });
  if (error instanceof ReadRefusal || ['ELOOP', 'ENOTDIR', 'EISDIR', 'ENXIO'].includes(errorCode(error)))
    return new Fault('denied', `${shown} is not a regular file in folders of the memory bank`);
  if (errorCode(error) === 'ENAMETOOLONG') return new Fault('invalid', `${shown} is too long`);
  return error;
}
