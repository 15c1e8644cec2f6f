/** A SQLite file whose commits are on disk before they are acknowledged. A damaged file is set aside. */
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import { Fault } from '../../model/fault.ts';
import { isDamage } from './database-fault.ts';
import { openSqlite } from './sqlite.ts';

export interface DurableOptions {
  readonly schema: string;
  readonly schemaVersion: number;
  /** How long a statement waits for another connection. */
  readonly busyMs?: number;
  /** Reads the whole file to find damage. */
  readonly check?: boolean;
  /** Called with the connection before it is used. */
  readonly prepare?: (db: Database.Database) => void;
}

export function openDurable(path: string, options: DurableOptions): Database.Database {
  const { busyMs, check = false, prepare } = options;
  const db = openSqlite(path, busyMs === undefined ? {} : { timeout: busyMs });
  try {
    const mode = db.pragma('journal_mode = WAL', { simple: true });
    if (mode !== 'wal') {
      throw new Fault('unsupported', `${path}: its filesystem does not support a write-ahead log of SQLite`, {
        hint: 'Set CARREL_HOME to a folder on a local filesystem, such as ext4.',
      });
    }
    db.exec('PRAGMA synchronous = FULL');
    if (check) requireSound(db);
    prepareSchema(db, path, options);
    prepare?.(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Opens the database. A damaged file is set aside and a new one is created. The folder is created for this account
 * alone.
 */
export function openOrSetAside(folder: string, fileName: string, options: DurableOptions): Database.Database {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, fileName);
  try {
    return openDurable(path, options);
  } catch (error) {
    if (!isDamage(error)) throw error;
    setAside(folder, fileName);
    return openDurable(path, { ...options, check: false });
  }
}

/** The damaged files that were set aside, oldest first. */
export function damagedFiles(folder: string, fileName: string): string[] {
  if (!existsSync(folder)) return [];
  const prefix = damagedName(fileName);
  const names = readdirSync(folder).filter((name) => name.startsWith(prefix) && !/-(wal|shm)$/.test(name));
  return names.sort().map((name) => join(folder, name));
}

function damagedName(fileName: string): string {
  return `${fileName}.damaged-`;
}

/** Renames the database file last: after a crash in between, the next start finds the damage again. */
function setAside(folder: string, fileName: string): void {
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  for (const suffix of ['-wal', '-shm', '']) {
    const from = join(folder, `${fileName}${suffix}`);
    if (existsSync(from)) renameSync(from, join(folder, `${damagedName(fileName)}${time}${suffix}`));
  }
}

function requireSound(db: Database.Database): void {
  const verdict = db.pragma('quick_check(1)', { simple: true });
  if (verdict !== 'ok') throw Object.assign(new Error(String(verdict)), { code: 'SQLITE_CORRUPT' });
}

function prepareSchema(db: Database.Database, path: string, { schema, schemaVersion }: DurableOptions): void {
  const version = () => db.pragma('user_version', { simple: true }) as number;
  if (version() > schemaVersion) {
    throw new Fault('unsupported', `${path} was written by a newer Carrel`, {
      hint: 'Use that version, or a newer one.',
    });
  }
  if (version() === schemaVersion) return;
  // A crash before the commit leaves an empty file. Another connection may create the schema at the same time.
  db.transaction(() => {
    if (version() === 0) db.exec(`${schema} PRAGMA user_version = ${schemaVersion}`);
  }).immediate();
}
