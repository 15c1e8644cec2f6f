/**
 * The database of a room. Numbers of messages (`seq`) have no gaps: only the oldest messages are ever removed, so a
 * count of messages is a difference of two numbers.
 */
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { openDurable } from '../../../lib/data/durable-database.ts';

const schemaVersion = 1;
/** The room is locked, so another process that has the database open can only be a reader. */
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

export function openDatabase(folder: string): Database {
  return openDurable(join(folder, '.carrel/room.db'), { schema, schemaVersion, busyMs });
}

/** Values of the room itself, as JSON. */
export class Meta {
  readonly #get;
  readonly #set;

  constructor(db: Database) {
    this.#get = db.prepare<[string], string>('SELECT value FROM meta WHERE key = ?').pluck();
    this.#set = db.prepare<[string, string]>('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)');
  }

  get<T>(key: string): T | null {
    const text = this.#get.get(key);
    return text === undefined ? null : (JSON.parse(text) as T);
  }

  set(key: string, value: unknown): void {
    this.#set.run(key, JSON.stringify(value));
  }
}
