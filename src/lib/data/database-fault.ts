/** Errors of SQLite and of the filesystem under it, as Faults. */
import { statfsSync } from 'node:fs';
import { asFault, Fault, type FaultCode, spaceHint } from '../../model/fault.ts';

export interface DatabaseWords {
  readonly folder: string;
  /** What the folder is: `the memory in FOLDER`. */
  readonly name: string;
  /** What the file is, if that is something else. */
  readonly database?: string;
  readonly damagedHint: string;
}

const writableHint = 'The folder and all in it must be writable for the account of the daemon.';

export function databaseFault(error: unknown, words: DatabaseWords): Fault {
  if (error instanceof Fault) return error;
  const { folder, name, database = name } = words;
  const code = errorCode(error);
  const fault = (to: FaultCode, message: string, hint?: string) =>
    new Fault(to, message, { cause: error, ...(hint === undefined ? {} : { hint }) });
  if (/^(SQLITE_FULL|ENOSPC|EDQUOT)/.test(code) || (isUnreachable(code) && isDiskFull(folder)))
    return fault('exhausted', `the disk has no space for ${name}`, spaceHint);
  const why = (error as Error).message;
  if (isDamage(error)) return fault('corrupt', `${database} is damaged: ${why}`, words.damagedHint);
  if (/^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(code)) return fault('unavailable', `another program uses ${database}`);
  if (/^(SQLITE_(READONLY|PERM|AUTH)|EACCES|EPERM|EROFS)/.test(code))
    return fault('denied', `${name} cannot be written`, writableHint);
  if (isUnreachable(code) || /^(EIO|ENOENT)/.test(code)) return fault('unavailable', `${name} cannot be read: ${why}`);
  return asFault(error);
}

/** Runs work on a database; what it throws is translated. */
export function translated<T>(work: () => T, faultOf: (error: unknown) => Fault): T {
  try {
    return work();
  } catch (error) {
    throw faultOf(error);
  }
}

/** True: SQLite reports that the file is damaged, or is not a database. */
export function isDamage(error: unknown): boolean {
  return /^SQLITE_(CORRUPT|NOTADB)/.test(errorCode(error));
}

/** SQLite reports these errors also when there is no space for its log, or for the index of the log. */
export function isUnreachable(code: string): boolean {
  return /^SQLITE_(IOERR|CANTOPEN)/.test(code);
}

/** Empty: it has none. */
export function errorCode(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

/** Whether the index of the log, which grows by 32 KiB, or a new file has no space. */
export function isDiskFull(folder: string): boolean {
  const { bavail, bsize, files, ffree } = statfsSync(folder);
  return bavail * bsize < 64 * 1024 || (files > 0 && ffree < 2);
}
