/**
 * The schema of the SQLite store, version by version, and how a file shows its version.
 *
 * `application_id` and `user_version` change only while the file is not in WAL mode. So the first bytes of the file are
 * always current, and a foreign or newer file is refused without being opened.
 */
import { closeSync, copyFileSync, fsyncSync, openSync, readSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Database } from 'better-sqlite3';
import { isErrno, syncFolder } from '../../lib/file/file.ts';
import { Fault, spaceHint } from '../../model/fault.ts';

/** "crrl" in ASCII, in the header of every store. */
export const applicationId = 0x6372726c;

/** Append only: a released step never changes. */
const migrations: readonly string[] = [
  `CREATE TABLE rows (
     seq INTEGER PRIMARY KEY,
     kind TEXT NOT NULL,
     id TEXT NOT NULL,
     owner TEXT NOT NULL,
     name TEXT NOT NULL,
     revision INTEGER NOT NULL,
     value TEXT NOT NULL,
     UNIQUE (kind, id),
     UNIQUE (kind, owner, name)
   ) STRICT;
   CREATE INDEX rows_in_order ON rows (kind, seq);
   CREATE TABLE events (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     at TEXT NOT NULL,
     type TEXT NOT NULL,
     subject TEXT NOT NULL,
     data TEXT NOT NULL
   ) STRICT;`,
];

export const schemaVersion = migrations.length;

/** Migrates a database to the newest version, each step in its own transaction. A copy of an older file is kept beside it. */
export function migrate(db: Database, steps: readonly string[] = migrations): void {
  const from = db.pragma('user_version', { simple: true }) as number;
  if (from >= steps.length) return;
  db.pragma('journal_mode = DELETE', { simple: true });
  if (from > 0 && !db.memory) keepCopy(db.name, from);
  steps.slice(from).forEach((step, index) => {
    apply(db, step, from + index + 1);
  });
}

/** Keeps `carrel.db.v1`: the whole store as the older version left it. Without this copy nothing is migrated. */
function keepCopy(path: string, version: number): void {
  const copy = `${path}.v${version}`;
  try {
    copyFileSync(path, `${copy}.new`);
    const fd = openSync(`${copy}.new`, 'r+');
    fsyncSync(fd);
    closeSync(fd);
    renameSync(`${copy}.new`, copy);
    syncFolder(dirname(path));
  } catch (error) {
    rmSync(`${copy}.new`, { force: true });
    const hint = isErrno(error, 'ENOSPC') ? spaceHint : `Make ${copy} writable.`;
    throw new Fault('unavailable', `the store ${path} cannot be copied before it is upgraded`, { cause: error, hint });
  }
}

function apply(db: Database, step: string, version: number): void {
  const work = db.transaction(() => {
    db.exec(step);
    db.exec(`PRAGMA application_id = ${applicationId}`);
    db.exec(`PRAGMA user_version = ${version}`);
  });
  work.exclusive();
}

const headerBytes = 100;
const magic = 'SQLite format 3\0';

/** Reads the file without SQLite, which would create files beside it. */
export function refuseForeign(path: string): void {
  const header = readHeader(path);
  if (header.toString('latin1', 0, magic.length) !== magic) throw damaged(path, 'is not a database');
  if (header.readUInt32BE(68) !== applicationId) throw foreign(path);
  const version = header.readUInt32BE(60);
  if (version > schemaVersion) throw newer(path, version);
}

export function damaged(path: string, how: string, cause?: unknown): Fault {
  return new Fault('corrupt', `the store ${path} ${how}`, {
    cause,
    hint: `Put a backup of ${path} in its place, or move it away together with its -wal file to begin with an empty store.`,
  });
}

function foreign(path: string): Fault {
  return new Fault('corrupt', `${path} is a database, but not a store of Carrel`, {
    hint: `Move ${path} away, or choose another --home.`,
  });
}

function newer(path: string, version: number): Fault {
  return new Fault('corrupt', `the store ${path} has version ${version}; this Carrel knows up to ${schemaVersion}`, {
    hint: 'A newer Carrel wrote it: install that one again, or choose another --home.',
  });
}

/** Reads the header, padded with zeros if the file is shorter. */
function readHeader(path: string): Buffer {
  const fd = openSync(path, 'r');
  try {
    const header = Buffer.alloc(headerBytes);
    readSync(fd, header, 0, headerBytes, 0);
    return header;
  } finally {
    closeSync(fd);
  }
}
