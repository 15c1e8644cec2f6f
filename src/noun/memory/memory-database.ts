/**
 * The file of a user's memory. `words` is the full-text index of the notes. `bits` has one bit for each value of a
 * vector, a 32nd of its size: the search compares these first, and only the best by all their values.
 */
import { createRequire } from 'node:module';
import type { Database } from 'better-sqlite3';
import { damagedFiles, openOrSetAside } from '../../lib/data/durable-database.ts';

const fileName = 'memory.db';
const schemaVersion = 1;
/** The other thread may be committing. */
const busyMs = 5000;

const schema = `
  CREATE TABLE total (one INTEGER PRIMARY KEY CHECK (one = 1), notes INTEGER NOT NULL, bytes INTEGER NOT NULL, last_id TEXT);
  INSERT INTO total VALUES (1, 0, 0, NULL);
  CREATE TABLE collections (
    id INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL, name TEXT NOT NULL, model TEXT, dimensions INTEGER,
    notes INTEGER NOT NULL DEFAULT 0, vectors INTEGER NOT NULL DEFAULT 0, UNIQUE (scope, name)
  );
  CREATE TABLE notes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, collection INTEGER NOT NULL, at TEXT NOT NULL, expires_at TEXT,
    writer TEXT NOT NULL, key TEXT, author TEXT NOT NULL, via TEXT NOT NULL, origin TEXT, metadata TEXT NOT NULL, bytes INTEGER NOT NULL,
    has_vector INTEGER NOT NULL, text TEXT NOT NULL
  );
  CREATE UNIQUE INDEX notes_key ON notes (collection, writer, key) WHERE key IS NOT NULL;
  CREATE INDEX notes_collection ON notes (collection, seq);
  CREATE INDEX notes_at ON notes (at);
  CREATE INDEX notes_expiry ON notes (expires_at) WHERE expires_at IS NOT NULL;
  CREATE TABLE vectors (note INTEGER PRIMARY KEY, vector BLOB NOT NULL);
  CREATE TABLE bits (
    collection INTEGER NOT NULL, note INTEGER NOT NULL, expires_at TEXT, bits BLOB NOT NULL, PRIMARY KEY (collection, note)
  ) WITHOUT ROWID;
  CREATE VIRTUAL TABLE words USING fts5(
    text, content='notes', content_rowid='seq', tokenize='porter unicode61 remove_diacritics 2'
  );
`;

export interface OpenedDatabase {
  readonly db: Database;
  /** False: sqlite-vec cannot be loaded. */
  readonly hasVectors: boolean;
}

export interface OpenOptions {
  /** Check the whole file, because a call found damage in it. */
  readonly check: boolean;
  /** The path of sqlite-vec; null: it is not available. */
  readonly extension?: () => string | null;
}

/** A damaged file is set aside (M16). */
export function openDatabase(folder: string, { check, extension = extensionPath }: OpenOptions): OpenedDatabase {
  const prepare = (db: Database) => void db.exec('PRAGMA cache_size = -16384');
  const db = openOrSetAside(folder, fileName, { schema, schemaVersion, busyMs, check, prepare });
  return { db, hasVectors: loadVectors(db, extension()) };
}

export function damagedMemories(folder: string): string[] {
  return damagedFiles(folder, fileName);
}

function loadVectors(db: Database, path: string | null): boolean {
  if (path === null) return false;
  try {
    db.loadExtension(path);
    return true;
  } catch {
    return false;
  }
}

/** Null: the package is not installed, or has no build for this machine. */
function extensionPath(): string | null {
  try {
    const { getLoadablePath } = createRequire(import.meta.url)('sqlite-vec') as { getLoadablePath(): string };
    return getLoadablePath();
  } catch {
    return null;
  }
}
