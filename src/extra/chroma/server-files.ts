/**
 * The files of the server. Damaged ones are set aside in a folder beside them, so that the server starts with empty
 * files.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isDamage } from '../../lib/data/database-fault.ts';
import { openSqlite } from '../../lib/data/sqlite.ts';
import { syncFolder } from '../../lib/file/file.ts';

const database = 'chroma.sqlite3';
const prefix = 'damaged-';
/**
 * Checking a file of this size takes about a second. A larger one is checked only after the server failed with it
 * twice.
 */
const quickBytes = 512 * 1024 ** 2;

export interface CheckedFiles {
  readonly folders: readonly string[];
  readonly isNew: boolean;
}

/** `failures`: how often the server failed with these files. */
export function checkFiles(folder: string, failures: number): CheckedFiles {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, database);
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const isNew = size > 0 && (size <= quickBytes || failures > 1) && isDamaged(path);
  if (isNew) setAside(folder);
  logWrites(path);
  return { folders: setAsideIn(folder), isNew };
}

function setAsideIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.startsWith(prefix))
    .map((name) => join(folder, name));
}

/** Moves the database away, together with its index files. */
function setAside(folder: string): void {
  const time = new Date().toISOString().replace(/[^0-9TZ]/g, '');
  const target = join(folder, `${prefix}${time}`);
  mkdirSync(target, { mode: 0o700 });
  const names = readdirSync(folder).filter((name) => !name.startsWith(prefix));
  // The database is moved last: after a crash in between it is still there, and the next check moves the rest.
  for (const name of names.sort((one, other) => Number(one === database) - Number(other === database)))
    if (existsSync(join(folder, name))) renameSync(join(folder, name), join(target, name));
  syncFolder(target);
  syncFolder(folder);
}

/**
 * Turns on SQLite's write-ahead log, with which an acknowledged commit survives a power failure. In the server's
 * default mode, a commit is the removal of a file, which is not synced. The mode is stored in the file.
 */
function logWrites(path: string): void {
  const opened = openSqlite(path, { timeout: 5000 });
  try {
    opened.pragma('journal_mode = wal');
  } finally {
    opened.close();
  }
}

/** A database that is locked, or that cannot be read for another reason, is not damaged. */
function isDamaged(path: string): boolean {
  try {
    const opened = openSqlite(path, { timeout: 5000 });
    try {
      const rows = opened.pragma('quick_check(1)') as readonly { quick_check: string }[];
      return rows[0]?.quick_check !== 'ok';
    } finally {
      opened.close();
    }
  } catch (error) {
    return isDamage(error);
  }
}
