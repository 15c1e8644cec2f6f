/**
 * The store in SQLite: in one file (`sqlite-file.ts`), and for tests in memory.
 *
 * The seq of an event is also the revision of the row written with it. So a revision is never reused, not even when a
 * row is removed and another takes its id.
 */
import type Database from 'better-sqlite3';
import { errorCode } from '../../lib/data/database-fault.ts';
import type { Event, NewEvent } from '../../model/event.ts';
import { isFault } from '../../model/fault.ts';
import { boundedLimit, eventOf, expiredUpTo, Feed, type RawEvent } from './event-feed.ts';
import { encode, refusal } from './refusal.ts';
import { translated } from './sqlite-fault.ts';
import { type Backing, openStoreFile } from './sqlite-file.ts';
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

/** Opens the store, creating it when there is none. The folder must exist. */
export function openSqliteStore(path: string, options: StoreOptions = {}): Store {
  return translated(path, () => new SqliteStore(openStoreFile(path, options), options));
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

export class SqliteStore implements Store {
  readonly #backing: Backing;
  readonly #maxEvents: number;
  readonly #giveUpSpace: () => boolean;
  readonly #parsed = new ParsedRows();
  readonly #sql: ReturnType<typeof prepare>;
  readonly #atomically: Database.Transaction<(work: () => unknown) => unknown>;
  readonly #feed = new Feed();
  #synchronous: 'FULL' | 'NORMAL' = 'FULL';
  #closed = false;

  constructor(backing: Backing, options: StoreOptions) {
    this.#backing = backing;
    this.#maxEvents = options.maxEvents ?? defaultMaxEvents;
    this.#giveUpSpace = options.giveUpSpace ?? (() => false);
    this.#sql = prepare(backing.db);
    this.#atomically = backing.db.transaction((work) => work());
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
    this.#backing.refuseIfFull();
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
    await this.#call(() => this.#backing.flush()).catch((error: unknown) =>
      translated(this.#backing.path, () => {
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
    translated(this.#backing.path, () => this.#backing.close());
  }

  #call<T>(work: () => T): T {
    if (this.#closed) throw refusal.closed();
    return translated(this.#backing.path, work);
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
    this.#backing.db.exec(`PRAGMA synchronous = ${wanted}`);
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
