/** The files of the server. Damaged ones are set aside in a folder beside them, so that the server begins anew. */
import { existsSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isDamage } from '../lib/durable-database.ts';
import { syncFolder } from '../lib/file.ts';
import { openSqlite } from '../lib/sqlite.ts';

const database = 'chroma.sqlite3';
const prefix = 'damaged-';
/** Checking takes about a second for so much. A larger one is checked after the server failed with it. */
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

/** With the index files, which belong to it. */
function setAside(folder: string): void {
  const time = new Date().toISOString().replace(/[^0-9TZ]/g, '');
  const target = join(folder, `${prefix}${time}`);
  mkdirSync(target, { mode: 0o700 });
  const names = readdirSync(folder).filter((name) => !name.startsWith(prefix));
  // The database last: after a crash in between it is still there, and the rest is moved.
  for (const name of names.sort((one, other) => Number(one === database) - Number(other === database)))
    if (existsSync(join(folder, name))) renameSync(join(folder, name), join(target, name));
  syncFolder(target);
  syncFolder(folder);
}

/**
 * With SQLite's write-ahead log a commit is on disk when it is acknowledged, also for a power cut. In the mode that the server would have by itself, a
 * commit is the removal of a file, which is not synced. The mode stays with the file.
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
