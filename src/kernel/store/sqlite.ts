/**
 * The store in one SQLite file.
 *
 * A new file appears complete under its name, so an empty or half-written one is damaged and never a new store. Before
 * a file is opened for writing it is checked without being changed; a damaged, foreign or newer file stays untouched.
 *
 * The seq of an event is also the revision of the row written with it. So a revision is never reused, not even when a
 * row is removed and another takes its id.
 */
import { accessSync, closeSync, constants, existsSync, linkSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';
import { errorCode } from '../../lib/data/database-fault.ts';
import { openSqlite } from '../../lib/data/sqlite.ts';
import { isErrno, syncFolder, writeWhole } from '../../lib/file/file.ts';
import type { Event, NewEvent } from '../../model/event.ts';
import { Fault, isFault } from '../../model/fault.ts';
import { LogFlush } from './log-flush.ts';
import { allocateIndex, closeKeepingLog, fillIndex, preallocate } from './log-space.ts';
import { boundedLimit, encode, eventOf, expiredUpTo, Feed, type RawEvent, refusal } from './memory.ts';
import { damaged, migrate, refuseForeign, schemaVersion } from './migrations.ts';
import { refuseIfFull, translated } from './sqlite-fault.ts';
import {
  defaultMaxEvents,
  type Kinds,
  type NewRow,
  type Row,
  type RowKind,
  type Store,
  type StoreOptions,
  type WriteOptions,
} from './store.ts';

/** Calls are synchronous: while one waits for a lock, the whole daemon waits. */
const busyMs = 250;

/** Opens the store, creating it when there is none. The folder must exist. */
export function openSqliteStore(path: string, options: StoreOptions = {}): Store {
  return translated(path, () => {
    if (!existsSync(path)) create(path);
    accessSync(path, constants.R_OK | constants.W_OK);
    accessSync(dirname(path), constants.W_OK);
    refuseForeign(path);
    fillIndex(path, options);
    const db = refusingDamaged(path, () => connect(path));
    const index = allocateIndex(path, db, options);
    preallocate(db, path);
    return new SqliteStore({ path, db, index }, options);
  });
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

const columns = 'kind, id, owner, name, revision, value';

type RawRow = Omit<Row<RowKind>, 'value'> & { readonly value: string };

function prepare(db: Database.Database) {
  return {
    get: db.prepare<[string, string], RawRow>(`SELECT ${columns} FROM rows WHERE kind = ? AND id = ?`),
    find: db.prepare<[string, string, string], RawRow>(
      `SELECT ${columns} FROM rows WHERE kind = ? AND owner = ? AND name = ?`,
    ),
    count: db.prepare<[string], number>('SELECT count(*) FROM rows WHERE kind = ?').pluck(),
    countOwned: db.prepare<[string, string], number>('SELECT count(*) FROM rows WHERE kind = ? AND owner = ?').pluck(),
    list: db.prepare<[string], RawRow>(`SELECT ${columns} FROM rows WHERE kind = ? ORDER BY seq`),
    listOwned: db.prepare<[string, string], RawRow>(
      `SELECT ${columns} FROM rows WHERE kind = ? AND owner = ? ORDER BY seq`,
    ),
    insert: db.prepare<[RawRow]>(
      `INSERT INTO rows (seq, ${columns}) VALUES (@revision, @kind, @id, @owner, @name, @revision, @value)`,
    ),
    update: db.prepare<[number, string, string, string, number], Omit<RawRow, 'value'>>(
      `UPDATE rows SET revision = ?, value = ? WHERE kind = ? AND id = ? AND revision = ?
       RETURNING kind, id, owner, name, revision`,
    ),
    remove: db.prepare<[string, string, number]>('DELETE FROM rows WHERE kind = ? AND id = ? AND revision = ?'),
    append: db.prepare<[string, string, string, string]>(
      'INSERT INTO events (at, type, subject, data) VALUES (?, ?, ?, ?)',
    ),
    events: db.prepare<[number, number], RawEvent>('SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT ?'),
    expire: db.prepare<[number]>('DELETE FROM events WHERE seq <= ?'),
    firstSeq: db.prepare<[], number | null>('SELECT min(seq) FROM events').pluck(),
    // Unlike the newest event, it also counts events that were pruned.
    lastSeq: db.prepare<[], number>("SELECT seq FROM sqlite_sequence WHERE name = 'events'").pluck(),
  };
}

interface Opened {
  readonly path: string;
  readonly db: Database.Database;
  /** A descriptor of the index of its log, open as long as the connection. */
  readonly index: number;
}

class SqliteStore implements Store {
  readonly #path: string;
  readonly #index: number;
  readonly #maxEvents: number;
  readonly #giveUpSpace: () => boolean;
  readonly #db: Database.Database;
  readonly #parsed = new ParsedRows();
  readonly #sql: ReturnType<typeof prepare>;
  readonly #atomically: Database.Transaction<(work: () => unknown) => unknown>;
  readonly #feed = new Feed();
  readonly #flush: LogFlush;
  #synchronous: 'FULL' | 'NORMAL' = 'FULL';
  #closed = false;

  constructor({ path, db, index }: Opened, options: StoreOptions) {
    this.#path = path;
    this.#index = index;
    this.#maxEvents = options.maxEvents ?? defaultMaxEvents;
    this.#giveUpSpace = options.giveUpSpace ?? (() => false);
    this.#db = db;
    this.#sql = prepare(db);
    this.#atomically = db.transaction((work) => work());
    this.#flush = new LogFlush(`${path}-wal`);
  }

  get<K extends RowKind>(kind: K, id: string): Row<K> | null {
    return this.#call(() => rowOf<K>(this.#sql.get.get(kind, id)));
  }

  find<K extends RowKind>(kind: K, owner: string, name: string): Row<K> | null {
    return this.#call(() => rowOf<K>(this.#sql.find.get(kind, owner, name)));
  }

  list<K extends RowKind>(kind: K, owner?: string): readonly Row<K>[] {
    const { list, listOwned } = this.#sql;
    return this.#call(() =>
      (owner === undefined ? list.all(kind) : listOwned.all(kind, owner)).map((raw) => this.#parsed.rowOf<K>(raw)),
    );
  }

  count(kind: RowKind, owner?: string): number {
    const { count, countOwned } = this.#sql;
    return this.#call(() => (owner === undefined ? count.get(kind) : countOwned.get(kind, owner))!);
  }

  insert<K extends RowKind>(row: NewRow<K>, event: NewEvent, options?: WriteOptions): Row<K> {
    const { kind, id, owner, name } = row;
    refuseIfFull(this.#path);
    return this.#write(event, options, (revision) => {
      const raw = { kind, id, owner, name, revision, value: encode(row.value) };
      refusingTaken(row, () => this.#sql.insert.run(raw));
      return rowOf<K>(raw)!;
    });
  }

  update<K extends RowKind>(row: Row<K>, value: Kinds[K], event: NewEvent, options?: WriteOptions): Row<K> {
    return this.#writeWithReserve(event, options, (revision) => {
      const text = encode(value);
      const raw = this.#sql.update.get(revision, text, row.kind, row.id, row.revision);
      return raw ? rowOf<K>({ ...raw, value: text })! : this.#refuseStale(row);
    });
  }

  remove<K extends RowKind>(row: Row<K>, event: NewEvent, options?: WriteOptions): void {
    this.#writeWithReserve(event, options, () => {
      const { changes } = this.#sql.remove.run(row.kind, row.id, row.revision);
      if (changes === 0) this.#refuseStale(row);
    });
  }

  async flushed(): Promise<void> {
    await this.#call(() => this.#flush.flush()).catch((error: unknown) =>
      translated(this.#path, () => {
        throw error;
      }),
    );
  }

  events(after: number, limit: number): readonly Event[] {
    return this.#call(() => this.#sql.events.all(after, boundedLimit(limit)).map(eventOf));
  }

  lastSeq(): number {
    return this.#call(() => this.#sql.lastSeq.get() ?? 0);
  }

  firstSeq(): number {
    return this.#call(() => this.#sql.firstSeq.get() ?? (this.#sql.lastSeq.get() ?? 0) + 1);
  }

  subscribe(listener: (event: Event) => void): () => void {
    return this.#call(() => this.#feed.subscribe(listener));
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#feed.clear();
    this.#flush.close();
    translated(this.#path, () => closeKeepingLog(this.#path, () => this.#db.close()));
    closeSync(this.#index);
  }

  #call<T>(work: () => T): T {
    if (this.#closed) throw refusal.closed();
    return translated(this.#path, work);
  }

  /** On a full disk existing rows can be changed and removed; only new rows need free space. */
  #writeWithReserve<T>(event: NewEvent, options: WriteOptions | undefined, change: (revision: number) => T): T {
    for (;;) {
      try {
        return this.#write(event, options, change);
      } catch (error) {
        if (!isFault(error, 'exhausted') || !this.#giveUpSpace()) throw error;
      }
    }
  }

  /** The event comes first because its seq is the revision of the row. */
  #write<T>(event: NewEvent, options: WriteOptions | undefined, change: (revision: number) => T): T {
    const { at, type, subject } = event;
    const written = this.#call(() => {
      this.#setDurability(options?.lazy === true);
      return this.#transact(() => {
        const data = encode(event.data);
        const seq = Number(this.#sql.append.run(at, type, subject, data).lastInsertRowid);
        const result = change(seq);
        this.#prune(seq);
        return { stored: { seq, at, type, subject, data }, result };
      });
    });
    this.#feed.publish(written.stored);
    return written.result;
  }

  #transact<T>(work: () => T): T {
    return this.#atomically.immediate(work) as T;
  }

  /** FULL syncs the log at each commit, and with it every lazy write before; NORMAL only at a checkpoint. */
  #setDurability(lazy: boolean): void {
    const wanted = lazy ? 'NORMAL' : 'FULL';
    if (wanted === this.#synchronous) return;
    this.#db.exec(`PRAGMA synchronous = ${wanted}`);
    this.#synchronous = wanted;
  }

  #prune(seq: number): void {
    const expired = expiredUpTo(seq, this.#maxEvents);
    if (expired !== null) this.#sql.expire.run(expired);
  }

  #refuseStale(row: Row<RowKind>): never {
    throw this.#sql.get.get(row.kind, row.id) ? refusal.moved(row) : refusal.gone(row);
  }
}

/** Parsed rows by revision: parsing hundreds again takes longer than reading them. */
class ParsedRows {
  #rows = new Map<string, Row<RowKind>>();
  #earlier = new Map<string, Row<RowKind>>();

  rowOf<K extends RowKind>(raw: RawRow): Row<K> {
    const known = this.#rows.get(raw.id) ?? this.#earlier.get(raw.id);
    const row = known?.revision === raw.revision && known.kind === raw.kind ? known : rowOf<K>(raw)!;
    if (this.#rows.size >= maxParsedRows) [this.#rows, this.#earlier] = [new Map(), this.#rows];
    this.#rows.set(raw.id, row);
    return row as Row<K>;
  }
}

/** Entries of removed rows are dropped with the older half. */
const maxParsedRows = 5000;

function rowOf<K extends RowKind>(raw: RawRow | undefined): Row<K> | null {
  return raw ? ({ ...raw, value: JSON.parse(raw.value) } as Row<K>) : null;
}

function refusingTaken<T>(row: NewRow<RowKind>, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (errorCode(error) !== 'SQLITE_CONSTRAINT_UNIQUE') throw error;
    throw (error as Error).message.includes('rows.id') ? refusal.idTaken(row) : refusal.nameTaken(row);
  }
}
