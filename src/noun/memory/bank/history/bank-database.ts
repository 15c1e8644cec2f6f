/** The file with the history of a bank. A damaged one is set aside, and a new history begins with the files as they are. */
import type { Database } from 'better-sqlite3';
import { damagedFiles, openOrSetAside } from '../../../../lib/data/durable-database.ts';

const fileName = 'history.db';
const schemaVersion = 1;

/**
 * `files` has the newest settled version of each file. `stamp` tells whether the file changed since; null: its content
 * has to be compared. A version that is `pending` is recorded, but not acknowledged yet.
 */
const schema = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE total (one INTEGER PRIMARY KEY CHECK (one = 1), versions INTEGER NOT NULL, bytes INTEGER NOT NULL);
  INSERT INTO total VALUES (1, 0, 0);
  CREATE TABLE files (
    path TEXT PRIMARY KEY, version INTEGER NOT NULL, hash TEXT, bytes INTEGER, stamp TEXT
  ) WITHOUT ROWID;
  CREATE TABLE versions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL, version INTEGER NOT NULL, at TEXT NOT NULL, act TEXT NOT NULL,
    writer TEXT NOT NULL, author TEXT NOT NULL, hash TEXT, bytes INTEGER, content BLOB, pending INTEGER NOT NULL,
    UNIQUE (path, version)
  );
  CREATE INDEX versions_pending ON versions (pending) WHERE pending = 1;
  CREATE TRIGGER versions_added AFTER INSERT ON versions BEGIN
    UPDATE total SET versions = versions + 1, bytes = bytes + coalesce(length(NEW.content), 0);
  END;
  CREATE TRIGGER versions_removed AFTER DELETE ON versions BEGIN
    UPDATE total SET versions = versions - 1, bytes = bytes - coalesce(length(OLD.content), 0);
  END;
  CREATE TABLE locks (path TEXT PRIMARY KEY, writer TEXT NOT NULL, author TEXT NOT NULL, until TEXT NOT NULL) WITHOUT ROWID;
`;

export function openDatabase(folder: string): Database {
  return openOrSetAside(folder, fileName, { schema, schemaVersion, check: true });
}

export function damagedHistories(folder: string): string[] {
  return damagedFiles(folder, fileName);
}
