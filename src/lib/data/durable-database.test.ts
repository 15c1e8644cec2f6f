import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { damagedFiles, openDurable, openOrSetAside } from './durable-database.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-database-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const options = { schema: 'CREATE TABLE words (word TEXT);', schemaVersion: 1 };
const path = () => join(folder, 'a.db');

test('commits are synced, and the schema is made once', () => {
  const db = openDurable(path(), options);
  expect([db.pragma('journal_mode', { simple: true }), db.pragma('synchronous', { simple: true })]).toEqual(['wal', 2]);
  db.exec("INSERT INTO words VALUES ('kept')");
  db.close();
  const again = openDurable(path(), options);
  expect(again.prepare('SELECT word FROM words').pluck().all()).toEqual(['kept']);
  again.close();
});

test('a file of a newer version is refused and stays as it is', () => {
  openDurable(path(), { ...options, schemaVersion: 2 }).close();
  expect(() => openOrSetAside(folder, 'a.db', options)).toThrow('was written by a newer Carrel');
  expect(damagedFiles(folder, 'a.db')).toEqual([]);
});

test('a file that is not a database is set aside, and a new one is created', () => {
  writeFileSync(path(), 'no database, but long enough for a header'.repeat(20));
  const db = openOrSetAside(folder, 'a.db', options);
  expect(db.prepare('SELECT count(*) FROM words').pluck().get()).toBe(0);
  db.close();
  const [damaged, ...more] = damagedFiles(folder, 'a.db');
  expect([damaged, more]).toEqual([expect.stringContaining('a.db.damaged-'), []]);
});

test('an error other than damage does not set the file aside', () => {
  const prepare = () => {
    throw Object.assign(new Error('full'), { code: 'SQLITE_FULL' });
  };
  openDurable(path(), options).close();
  expect(() => openOrSetAside(folder, 'a.db', { ...options, prepare })).toThrow('full');
  expect(damagedFiles(folder, 'a.db')).toEqual([]);
});
