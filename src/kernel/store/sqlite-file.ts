/**
 * The file of a store: how it is created, checked and opened, and how it is closed.
 *
 * A new file appears complete under its name, so an empty or half-written one is damaged and never a new store. Before
 * a file is opened for writing it is checked without being changed; a damaged, foreign or newer file stays untouched.
 */
import { accessSync, closeSync, constants, existsSync, linkSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';
import { openSqlite } from '../../lib/data/sqlite.ts';
import { isErrno, syncFolder, writeWhole } from '../../lib/file/file.ts';
import { Fault } from '../../model/fault.ts';
import { LogFlush } from './log-flush.ts';
import { allocateIndex, closeKeepingLog, fillIndex, preallocate } from './log-space.ts';
import { damaged, migrate, refuseForeign, schemaVersion } from './migrations.ts';
import { refuseIfFull } from './sqlite-fault.ts';
import type { StoreOptions } from './store.ts';

/** Calls are synchronous: while one waits for a lock, the whole daemon waits. */
const busyMs = 250;

/** The database of a store, and what is below it. */
export interface Backing {
  readonly path: string;
  readonly db: Database.Database;
  /** Refuses a new row if there is no space for it. */
  refuseIfFull(): void;
  /** Settles when every commit before the call is on the disk. */
  flush(): Promise<void>;
  /** Closes the database, too. */
  close(): void;
}

/** Opens the file, creating it when there is none. The folder must exist. */
export function openStoreFile(path: string, options: StoreOptions): Backing {
  if (!existsSync(path)) create(path);
  accessSync(path, constants.R_OK | constants.W_OK);
  accessSync(dirname(path), constants.W_OK);
  refuseForeign(path);
  fillIndex(path, options);
  const db = refusingDamaged(path, () => connect(path));
  const index = allocateIndex(path, db, options);
  preallocate(db, path);
  const log = new LogFlush(`${path}-wal`);
  return {
    path,
    db,
    refuseIfFull: () => refuseIfFull(path),
    flush: () => log.flush(),
    close: () => {
      log.close();
      closeKeepingLog(path, () => db.close());
      // Only now: closing it drops the locks that SQLite has on the file.
      closeSync(index);
    },
  };
}

/**
 * Creates the store by a link: unlike a rename, it never replaces a store that another process created at the same
 * moment.
 */
function create(path: string): void {
  const fresh = `${path}.${process.pid}.new`;
  writeWhole(fresh, emptyStore());
  try {
    linkSync(fresh, path);
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
  syncFolder(dirname(path));
}

/** The bytes of an empty store. */
function emptyStore(): Buffer {
  const db = openSqlite(':memory:');
  try {
    migrate(db);
    return db.serialize();
  } finally {
    db.close();
  }
}

/**
 * Checks the file before it is opened for writing. Closing the last writable connection checkpoints the log into the
 * file, so a file with a log is checked read-only. The next connection is opened before the check is closed, so that
 * the files of the log stay.
 */
function refusingDamaged<T>(path: string, next: () => T): T {
  const db = openSqlite(path, { readonly: isFilled(`${path}-wal`), fileMustExist: true, timeout: busyMs });
  try {
    const verdict = db.pragma('quick_check(1)', { simple: true });
    if (verdict !== 'ok') throw damaged(path, `is damaged: ${verdict}`);
    // Migrations need exclusive access to the file.
    if (db.pragma('user_version', { simple: true }) === schemaVersion) return next();
  } finally {
    db.close();
  }
  return next();
}

function isFilled(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function connect(path: string): Database.Database {
  const db = openSqlite(path, { fileMustExist: true, timeout: busyMs });
  try {
    db.exec('PRAGMA synchronous = FULL');
    migrate(db);
    const mode = db.pragma('journal_mode = WAL', { simple: true });
    if (mode !== 'wal') {
      throw new Fault('unsupported', `${path}: its filesystem does not support a write-ahead log of SQLite`, {
        hint: 'Set CARREL_HOME to a folder on a local filesystem, such as ext4.',
      });
    }
    // The first read creates the files of the log.
    db.exec('SELECT seq FROM rows LIMIT 1');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
