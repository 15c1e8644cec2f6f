/**
 * The database of a room. Numbers of messages (`seq`) have no gaps: only the oldest messages are ever removed, so counts need no
 * counting.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { keep, pragma } from '../lib/kept.ts';
import { Fault } from '../model/fault.ts';

const schemaVersion = 1;
/** Another process can only have it open to look at it: the room is locked. */
const busyMs = 2000;

const schema = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE messages (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, sender TEXT NOT NULL, at TEXT NOT NULL, via TEXT NOT NULL,
    mentions TEXT NOT NULL, reply_to TEXT, attachments TEXT NOT NULL, body TEXT NOT NULL
  );
  CREATE TABLE keys (key TEXT PRIMARY KEY, id TEXT NOT NULL, at TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE participants (
    name TEXT PRIMARY KEY, kind TEXT, is_listed INTEGER NOT NULL, last_post_at TEXT, last_read_at TEXT, position TEXT,
    position_seq INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID;
  CREATE TABLE refusals (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, sender TEXT NOT NULL, name TEXT NOT NULL,
    file TEXT NOT NULL UNIQUE, reason TEXT NOT NULL, key TEXT UNIQUE
  );
  CREATE VIRTUAL TABLE words USING fts5(body, content='messages', content_rowid='seq');
`;

export function openDatabase(folder: string): Database.Database {
  const path = join(folder, '.carrel/room.db');
  const isNew = !existsSync(path);
  const db = keep(new Database(path, { timeout: busyMs }));
  try {
    const mode = pragma(db, 'journal_mode = WAL');
    if (mode !== 'wal') throw new Fault('unsupported', `${path}: its filesystem cannot keep a write-ahead log`);
    // Every commit is on disk before it is acknowledged.
    db.exec('PRAGMA synchronous = FULL');
    prepareSchema(db, path, isNew);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function prepareSchema(db: Database.Database, path: string, isNew: boolean): void {
  const version = pragma(db, 'user_version') as number;
  if (version > schemaVersion) {
    throw new Fault('unsupported', `${path} was written by a newer Carrel`, {
      hint: 'Use that version, or a newer one.',
    });
  }
  // A crash while it was made leaves an empty file: the transaction did not happen.
  if (version === 0) db.transaction(() => db.exec(`${schema} PRAGMA user_version = ${schemaVersion}`)).immediate();
  else if (isNew) throw new Fault('internal', `${path} appeared while it was opened`);
}

/** Values of the room itself, as JSON. */
export class Meta {
  readonly #get;
  readonly #set;

  constructor(db: Database.Database) {
    this.#get = keep(db.prepare<[string], string>('SELECT value FROM meta WHERE key = ?').pluck());
    this.#set = keep(db.prepare<[string, string]>('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)'));
  }

  get<T>(key: string): T | null {
    const text = this.#get.get(key);
    return text === undefined ? null : (JSON.parse(text) as T);
  }

  set(key: string, value: unknown): void {
    this.#set.run(key, JSON.stringify(value));
  }
}
