import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import Database from 'better-sqlite3';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { applicationId, migrate, schemaVersion } from '../../src/kernel/store/migrations.ts';
import { openSqliteStore } from '../../src/kernel/store/sqlite.ts';
import { openSqlite } from '../../src/lib/data/sqlite.ts';
import { isRealRoot } from '../harness/machine.ts';
import { event, faultOf, storeConformance, user, userRow } from './store.ts';

const fixtures = join(import.meta.dirname, '../fixtures');
const root = mkdtempSync(join(tmpdir(), 'carrel-store-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let folders = 0;
function freshPath(): string {
  folders += 1;
  const folder = join(root, `${folders}`);
  mkdirSync(folder);
  return join(folder, 'carrel.db');
}

/** A store with rows in it, well closed, as it is in a copy. */
function filledStore(rows = 50): string {
  const path = freshPath();
  const store = openSqliteStore(path);
  for (let n = 0; n < rows; n += 1)
    store.insert(userRow(`${n}`, { value: user({ name: 'x'.repeat(2000) }) }), event(`${n}`));
  store.close();
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix);
  return path;
}

function raw<T>(path: string, work: (db: Database.Database) => T): T {
  const db = openSqlite(path);
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/** Every file of the folder of a store, by name, with the hash of its bytes. An index of the log (-shm) holds no data. */
function hashes(path: string): Record<string, string> {
  const folder = dirname(path);
  const logged = existsSync(`${path}-wal`);
  const names = readdirSync(folder)
    .filter((name) => !(logged && name.endsWith('-shm')))
    .sort();
  return Object.fromEntries(
    names.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    ]),
  );
}

function overwrite(path: string, offset: number, bytes: Buffer): void {
  const content = readFileSync(path);
  bytes.copy(content, offset);
  writeFileSync(path, content);
}

storeConformance('the SQLite store', (options) => openSqliteStore(freshPath(), options));

describe('a new SQLite store', () => {
  it('can be read by its owner only, with its log, and keeps the space of the log after a close', () => {
    const path = freshPath();
    const store = openSqliteStore(path);
    store.insert(userRow('a'), event('a'));
    const names = readdirSync(dirname(path)).sort();
    expect(names).toEqual(['carrel.db', 'carrel.db-shm', 'carrel.db-wal']);
    for (const name of names) expect(statSync(join(dirname(path), name)).mode & 0o777).toBe(0o600);
    store.close();
    expect(readdirSync(dirname(path)).sort()).toEqual(names);
    expect(statSync(`${path}-wal`).blocks * 512).toBeGreaterThan(1024 ** 2);
    const alone = freshPath();
    copyFileSync(path, alone);
    const copy = openSqliteStore(alone);
    expect(copy.get('user', 'a')).not.toBeNull();
    copy.close();
  });

  it('has its application id and its schema version in its header', () => {
    const path = filledStore(0);
    const header = readFileSync(path);
    expect(header.readUInt32BE(68)).toBe(applicationId);
    expect(header.readUInt32BE(60)).toBe(schemaVersion);
  });

  it('is refused if its folder does not exist', () => {
    const path = join(root, 'absent', 'carrel.db');
    const fault = faultOf(() => openSqliteStore(path));
    expect(fault.code).toBe('not_found');
    expect(fault.message).toContain(path);
    expect(readdirSync(root)).not.toContain('absent');
  });
});

describe('a reopened SQLite store', () => {
  it('finds rows, revisions, order, events and the seq', () => {
    const path = freshPath();
    const first = openSqliteStore(path);
    const [b] = ['b', 'a', 'c'].map((id) => first.insert(userRow(id), event(id, { id })));
    const current = first.update(b!, user({ slot: 7 }), event('b'), { lazy: true });
    const before = [first.list('user'), first.events(0, 100), first.lastSeq()];
    first.close();

    const second = openSqliteStore(path);
    expect([second.list('user'), second.events(0, 100), second.lastSeq()]).toEqual(before);
    expect(faultOf(() => second.update(b!, user(), event('b'))).code).toBe('conflict');
    expect(second.update(current, user({ slot: 8 }), event('b')).revision).toBeGreaterThan(current.revision);
    second.close();
  });

  it('knows the last seq when every event is pruned', () => {
    const path = filledStore(5);
    raw(path, (db) => db.exec('DELETE FROM events'));
    const store = openSqliteStore(path);
    expect(store.lastSeq()).toBe(5);
    store.insert(userRow('new'), event('new'));
    expect(store.events(0, 10).map(({ seq }) => seq)).toEqual([6]);
    store.close();
  });
});

describe('durability', () => {
  it('is set only when it changes', () => {
    const store = openSqliteStore(freshPath());
    const exec = vi.spyOn(Database.prototype, 'exec');
    const write = (id: string, lazy: boolean) => store.insert(userRow(id), event(id), { lazy });
    for (const id of ['a', 'b']) write(id, false);
    for (const id of ['c', 'd', 'e']) write(id, true);
    for (const id of ['f', 'g']) write(id, false);
    const said = exec.mock.calls.map(([text]) => text);
    exec.mockRestore();
    store.close();
    expect(said).toEqual(['PRAGMA synchronous = NORMAL', 'PRAGMA synchronous = FULL']);
  });

  it('protects every acknowledged write from kill -9', async () => {
    const path = freshPath();
    const expected = new Map<string, boolean>();
    for (const [round, count] of [1, 50, 400].entries()) {
      for (const line of await linesUntilKilled(path, `r${round}`, count)) expected.set(line.slice(1), line[0] === '+');
      const store = openSqliteStore(path);
      for (const [id, there] of expected) expect([id, store.get('user', id) !== null]).toEqual([id, there]);
      checkEventsMatchRows(
        store.list('user').map(({ id }) => id),
        store.events(0, 100_000),
      );
      store.close();
    }
    expect(expected.size).toBeGreaterThanOrEqual(451);
  });
});

describe('a full or read-only disk', () => {
  it.runIf(isRealRoot)('is reported, loses no acknowledged write, and later writes succeed again', () => {
    const folder = dirname(freshPath());
    const said = JSON.parse(
      run(['unshare', '--map-root-user', '--mount', process.execPath, join(fixtures, 'store-full.mjs'), folder]),
    );
    expect(said).toEqual({
      write: 'exhausted',
      kept: true,
      changed: 'exhausted',
      changedWithReserve: 'ok',
      insertedWithReserve: 'exhausted',
      afterwards: 'ok',
      opening: 'ok',
      creating: 'exhausted',
      left: [],
      reopened: true,
      readOnly: 'denied',
    });
  });
});

describe('a locked SQLite store', () => {
  it('is unavailable for writing, and back when the lock is gone', () => {
    const path = freshPath();
    const store = openSqliteStore(path);
    raw(path, (other) => {
      other.exec('BEGIN IMMEDIATE');
      expect(faultOf(() => store.insert(userRow('a'), event('a'))).code).toBe('unavailable');
      expect(store.list('user')).toEqual([]);
      other.exec('ROLLBACK');
    });
    expect(store.insert(userRow('a'), event('a')).id).toBe('a');
    store.close();
  });
});

describe('a SQLite store that cannot be trusted is refused and left as it is:', () => {
  function refused(path: string): void {
    const before = hashes(path);
    const fault = faultOf(() => openSqliteStore(path));
    expect(fault.code).toBe('corrupt');
    expect(fault.message).toContain(path);
    expect(fault.hint).toBeTruthy();
    expect(hashes(path)).toEqual(before);
  }

  const damages: Record<string, (path: string) => void> = {
    'garbage header': (path) => overwrite(path, 0, Buffer.alloc(100, 'garbage')),
    'garbage throughout': (path) => writeFileSync(path, Buffer.alloc(50_000, 'garbage')),
    'cut to half': (path) => truncateSync(path, Math.floor(statSync(path).size / 2)),
    'cut by one page': (path) => truncateSync(path, statSync(path).size - 4096),
    'cut within the header': (path) => truncateSync(path, 50),
    empty: (path) => truncateSync(path, 0),
    'garbage in the first page': (path) => overwrite(path, 100, Buffer.alloc(3996, 0xff)),
    'garbage in the middle': (path) => overwrite(path, 8 * 4096, Buffer.alloc(4096, 0xff)),
    'of another application': (path) => raw(path, (db) => foreign(db)),
    newer: (path) => raw(path, (db) => newer(db)),
  };

  for (const [name, damage] of Object.entries(damages)) {
    it(name, () => {
      const path = filledStore();
      damage(path);
      expect(Object.keys(hashes(path))).toEqual([basename(path)]);
      refused(path);
    });
  }

  it('newer or damaged, with a log from a crash', () => {
    const source = filledStore();
    const store = openSqliteStore(source);
    store.insert(userRow('logged'), event('logged'));
    const crashed = (damage: (path: string) => void): string => {
      const path = freshPath();
      for (const suffix of ['', '-wal', '-shm']) copyFileSync(source + suffix, path + suffix);
      damage(path);
      return path;
    };
    const sound = openSqliteStore(crashed(() => {}));
    expect(sound.get('user', 'logged')).not.toBeNull();
    sound.close();
    refused(crashed((path) => overwrite(path, 60, versionBytes(schemaVersion + 1))));
    refused(crashed((path) => overwrite(path, 0, Buffer.alloc(16))));
    refused(crashed((path) => overwrite(path, 8 * 4096, Buffer.alloc(4096, 0xff))));
    store.close();
  });

  it('a value that is not JSON, found when it is read', () => {
    const path = filledStore(1);
    raw(path, (db) => db.exec("UPDATE rows SET value = '{'"));
    const store = openSqliteStore(path);
    expect(faultOf(() => store.list('user')).code).toBe('corrupt');
    store.close();
  });
});

describe('migrations', () => {
  const steps = ['CREATE TABLE one (n)', 'CREATE TABLE two (n)', 'CREATE TABLE three (n)'];
  const tables = (db: Database.Database) => db.prepare('SELECT name FROM sqlite_schema').pluck().all();
  const version = (db: Database.Database) => db.pragma('user_version', { simple: true });

  it('run once, from the version that is there', () => {
    raw(':memory:', (db) => {
      migrate(db, steps.slice(0, 1));
      migrate(db, steps);
      migrate(db, steps);
      expect(tables(db)).toEqual(['one', 'two', 'three']);
      expect(version(db)).toBe(3);
    });
  });

  it('stop at the step that fails: earlier steps are done, and nothing of the failed one is', () => {
    raw(':memory:', (db) => {
      expect(() => migrate(db, [steps[0]!, 'CREATE TABLE half (n); CREATE TABLE one (n)', steps[2]!])).toThrow('one');
      expect(tables(db)).toEqual(['one']);
      expect(version(db)).toBe(1);
    });
  });

  it('keep a copy of the store as the older version left it', () => {
    const path = filledStore(2);
    const users = (at: string) => {
      const store = openSqliteStore(at);
      const names = store.list('user').map(({ name }) => name);
      store.close();
      return names;
    };
    const before = users(path);
    raw(path, (db) => migrate(db, [...Array(schemaVersion).fill(''), 'DELETE FROM rows']));
    expect(before).toHaveLength(2);
    expect(users(`${path}.v${schemaVersion}`)).toEqual(before);
    // A store that is new, or has the version of the program, has no copy.
    expect(existsSync(`${path}.v0`)).toBe(false);
    expect(existsSync(`${path}.v${schemaVersion}.v${schemaVersion}`)).toBe(false);
  });

  it('do nothing when the copy cannot be kept', () => {
    const path = filledStore(1);
    mkdirSync(`${path}.v${schemaVersion}`);
    raw(path, (db) => {
      const steps = [...Array(schemaVersion).fill(''), 'DELETE FROM rows'];
      expect(faultOf(() => migrate(db, steps))).toMatchObject({ code: 'unavailable' });
      expect(version(db)).toBe(schemaVersion);
    });
  });

  it.each(['0.1.0'])('open the store of a home of version %s', (release) => {
    const path = freshPath();
    raw(path, (db) => db.exec(readFileSync(`test/fixtures/store-${release}.sql`, 'utf8')));
    const store = openSqliteStore(path);
    const states = store.list('sandbox').map(({ name, value }) => [name, value.status.state, value.status.exitCode]);
    expect(states).toEqual([
      ['old', 'failed', 3],
      ['web', 'stopped', 143],
    ]);
    expect(store.find('sandbox', 'root', 'old')?.value.spec.labels).toEqual({ kept: 'yes' });
    expect(store.list('volume').map(({ value }) => value.type)).toContain('named');
    expect(store.events(0, 100).at(0)).toMatchObject({ type: 'user.created' });
    store.close();
  });

  it('write the version into the file itself, not into the log', () => {
    const path = filledStore(1);
    raw(path, (db) => {
      expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
      migrate(db, [...Array(schemaVersion).fill(''), 'CREATE TABLE later (n)']);
      expect(readFileSync(path).readUInt32BE(60)).toBe(schemaVersion + 1);
    });
  });

  it('are rolled back when they were cut off, and the store opens', () => {
    const source = filledStore();
    const path = freshPath();
    raw(source, (db) => {
      db.exec('PRAGMA journal_mode = DELETE');
      db.exec('PRAGMA cache_size = 1');
      db.exec("BEGIN EXCLUSIVE; UPDATE rows SET value = value || hex(zeroblob(3000)); UPDATE events SET data = 'half'");
      for (const suffix of ['', '-journal']) copyFileSync(source + suffix, path + suffix);
      db.exec('ROLLBACK');
    });
    expect(statSync(`${path}-journal`).size).toBeGreaterThan(0);
    expect(readFileSync(path).equals(readFileSync(source))).toBe(false);
    const store = openSqliteStore(path);
    expect(store.list('user').map(({ value }) => value.name.length)).toEqual(Array(50).fill(2000));
    expect(store.events(0, 100)).toHaveLength(50);
    store.close();
  });
});

function newer(db: Database.Database): void {
  db.exec('PRAGMA journal_mode = DELETE');
  db.exec(`PRAGMA user_version = ${schemaVersion + 1}`);
}

function foreign(db: Database.Database): void {
  db.exec('PRAGMA journal_mode = DELETE');
  db.exec('PRAGMA application_id = 42');
}

function versionBytes(version: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(version);
  return bytes;
}

function run([command, ...args]: string[]): string {
  return execFileSync(command!, args, { encoding: 'utf8', timeout: 60_000 });
}

/** The lines that the writer acknowledged until it was killed, which is done after `count` lines. */
async function linesUntilKilled(path: string, prefix: string, count: number): Promise<string[]> {
  const child: ChildProcess = spawn(process.execPath, [join(fixtures, 'store-writer.mjs'), path, prefix], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout! })) {
    lines.push(line);
    if (lines.length === count) child.kill('SIGKILL');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  expect(child.signalCode).toBe('SIGKILL');
  return lines;
}

/** Each row has the event that created it, each removed one the event that removed it: no half of a write is there. */
function checkEventsMatchRows(ids: readonly string[], events: readonly { type: string; subject: string }[]): void {
  const alive = new Set<string>();
  for (const { type, subject } of events) {
    if (type === 'user.created') alive.add(subject);
    else alive.delete(subject);
  }
  expect([...alive]).toEqual(ids);
}
