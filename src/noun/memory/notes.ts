/** The notes in the file of a memory, and their counts. The caller opens the transactions. */
import type { Database } from 'better-sqlite3';
import type { CollectionStatus, NewNote, Vector } from './memory.ts';
import type { MemoryScope, Metadata, Note, NoteOrigin, NoteVia, Writer } from './model/memory.ts';
import { bitsOf, bytesOf } from './search/vector.ts';

interface RawNote {
  readonly seq: number;
  readonly id: string;
  readonly scope: string;
  readonly name: string;
  readonly collection: number;
  readonly at: string;
  readonly expires_at: string | null;
  readonly writer: string;
  readonly author: string;
  readonly via: string;
  readonly origin: string | null;
  readonly metadata: string;
  readonly bytes: number;
  readonly has_vector: number;
  readonly text: string;
}

export interface Collection extends CollectionStatus {
  readonly id: number;
  readonly vectors: number;
}

/** A note with the columns that are not shown outside of the database. */
export interface StoredNote {
  readonly seq: number;
  readonly collection: number;
  readonly writer: string;
  readonly bytes: number;
  readonly note: Note;
}

export interface Total {
  readonly notes: number;
  readonly bytes: number;
  readonly lastId: string | null;
}

/**
 * The parameters by which a statement selects notes, as JSON: ids of collections, and lists of values by metadata key.
 */
export interface SelectedSql {
  readonly collections: string;
  readonly where: string;
  readonly now: string;
}

const columns = `n.seq, n.id, c.scope, c.name, n.collection, n.at, n.expires_at, n.writer, n.author, n.via, n.origin, n.metadata, n.bytes,
  n.has_vector, n.text`;
const joined = 'notes n JOIN collections c ON c.id = n.collection';

/** An SQL condition on `n`. Metadata values match only if their JSON types match, too. */
export const isSelected = `n.collection IN (SELECT value FROM json_each(@collections))
  AND (n.expires_at IS NULL OR n.expires_at > @now)
  AND NOT EXISTS (SELECT 1 FROM json_each(@where) w WHERE NOT EXISTS (
    SELECT 1 FROM json_each(n.metadata) m, json_each(w.value) v WHERE m.key = w.key AND m.type = v.type AND m.atom = v.atom))`;

function prepare(db: Database) {
  return {
    total: db.prepare<[], Total>('SELECT notes, bytes, last_id AS lastId FROM total'),
    count: db.prepare<[number, number, string | null]>(
      'UPDATE total SET notes = notes + ?, bytes = bytes + ?, last_id = coalesce(?, last_id)',
    ),
    collections: db.prepare<[], Collection>(
      'SELECT id, scope, name, model, dimensions, notes, vectors FROM collections ORDER BY id',
    ),
    addCollection: db.prepare<[string, string]>('INSERT OR IGNORE INTO collections (scope, name) VALUES (?, ?)'),
    collection: db.prepare<[string, string], Collection>(
      'SELECT id, scope, name, model, dimensions, notes, vectors FROM collections WHERE scope = ? AND name = ?',
    ),
    countIn: db.prepare<[number, number, number]>(
      'UPDATE collections SET notes = notes + ?, vectors = vectors + ? WHERE id = ?',
    ),
    setModel: db.prepare<[string, number, number]>('UPDATE collections SET model = ?, dimensions = ? WHERE id = ?'),
    removeEmpty: db.prepare<[number]>('DELETE FROM collections WHERE id = ? AND notes = 0'),
    insert: db.prepare<[Record<string, unknown>]>(
      `INSERT INTO notes (id, collection, at, expires_at, writer, key, author, via, origin, metadata, bytes, has_vector, text)
       VALUES (@id, @collection, @at, @expiresAt, @writer, @key, @author, @via, @origin, @metadata, @bytes, @hasVector, @text)`,
    ),
    index: db.prepare<[number, string]>('INSERT INTO words (rowid, text) VALUES (?, ?)'),
    unindex: db.prepare<[number, string]>("INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)"),
    addVector: db.prepare<[number, Buffer]>('INSERT INTO vectors (note, vector) VALUES (?, ?)'),
    addBits: db.prepare<[number, number, string | null, Buffer]>(
      'INSERT INTO bits (collection, note, expires_at, bits) VALUES (?, ?, ?, ?)',
    ),
    remove: db.prepare<[number]>('DELETE FROM notes WHERE seq = ?'),
    removeVector: db.prepare<[number]>('DELETE FROM vectors WHERE note = ?'),
    removeBits: db.prepare<[number, number]>('DELETE FROM bits WHERE collection = ? AND note = ?'),
    get: db.prepare<[string], RawNote>(`SELECT ${columns} FROM ${joined} WHERE n.id = ?`),
    bySeqs: db.prepare<[string], RawNote>(`SELECT ${columns} FROM json_each(?) s JOIN ${joined} AND n.seq = s.value`),
    byKey: db.prepare<[number, string, string], RawNote>(
      `SELECT ${columns} FROM ${joined} WHERE n.collection = ? AND n.writer = ? AND n.key = ?`,
    ),
    page: db.prepare<[SelectedSql & { before: string; limit: number }], RawNote>(
      `SELECT ${columns} FROM ${joined} WHERE n.id < @before AND ${isSelected} ORDER BY n.id DESC LIMIT @limit`,
    ),
    vectors: db.prepare<[string], { id: string; model: string; vector: Buffer }>(
      `SELECT n.id, c.model, v.vector FROM json_each(?) i JOIN ${joined} AND n.id = i.value JOIN vectors v ON v.note = n.seq`,
    ),
    expired: db.prepare<[string, string, number], RawNote>(
      `SELECT ${columns} FROM ${joined} WHERE n.seq IN (
         SELECT seq FROM notes WHERE expires_at <= ? UNION SELECT seq FROM notes WHERE at < ? LIMIT ?)`,
    ),
  };
}

export class Notes {
  readonly #sql: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#sql = prepare(db);
  }

  total(): Total {
    return this.#sql.total.get()!;
  }

  collections(): Collection[] {
    return this.#sql.collections.all();
  }

  collection(scope: MemoryScope, name: string): Collection | null {
    return this.#sql.collection.get(scope, name) ?? null;
  }

  /** Inserts a note, and its collection if that is new. The caller has checked that the vector fits the collection. */
  insert(id: string, at: string, bytes: number, note: NewNote, vector: Vector | null): Note {
    const { scope, collection: name, text, metadata, by, via, expiresAt = null, origin = null, key = null } = note;
    this.#sql.addCollection.run(scope, name);
    const collection = this.collection(scope, name)!;
    const { lastInsertRowid } = this.#sql.insert.run({
      ...{ id, at, expiresAt, key, via, bytes, text },
      collection: collection.id,
      writer: writerText(by),
      author: JSON.stringify(by),
      origin: origin === null ? null : JSON.stringify(origin),
      metadata: JSON.stringify(metadata),
      hasVector: vector === null ? 0 : 1,
    });
    const seq = Number(lastInsertRowid);
    this.#sql.index.run(seq, text);
    if (vector !== null) this.#addVector(seq, collection, expiresAt, vector);
    this.#sql.countIn.run(1, vector === null ? 0 : 1, collection.id);
    this.#sql.count.run(1, bytes, id);
    return { id, scope, collection: name, text, metadata, by, via, at, expiresAt, origin, hasVector: vector !== null };
  }

  remove({ seq, collection, bytes, note }: StoredNote): void {
    this.#sql.unindex.run(seq, note.text);
    this.#sql.remove.run(seq);
    if (note.hasVector) {
      this.#sql.removeVector.run(seq);
      this.#sql.removeBits.run(collection, seq);
    }
    this.#sql.countIn.run(-1, note.hasVector ? -1 : 0, collection);
    this.#sql.removeEmpty.run(collection);
    this.#sql.count.run(-1, -bytes, null);
  }

  get(id: string): StoredNote | null {
    return stored(this.#sql.get.get(id));
  }

  byKey(collection: number, by: Writer, key: string): StoredNote | null {
    return stored(this.#sql.byKey.get(collection, writerText(by), key));
  }

  /** In any order. */
  bySeqs(seqs: readonly number[]): StoredNote[] {
    return this.#sql.bySeqs.all(JSON.stringify(seqs)).map(storedOf);
  }

  page(selected: SelectedSql, before: string | null, limit: number): StoredNote[] {
    return this.#sql.page.all({ ...selected, before: before ?? '~', limit }).map(storedOf);
  }

  vectors(ids: readonly string[]): { id: string; model: string; vector: Buffer }[] {
    return this.#sql.vectors.all(JSON.stringify(ids));
  }

  expired(now: string, oldest: string, limit: number): StoredNote[] {
    return this.#sql.expired.all(now, oldest, limit).map(storedOf);
  }

  #addVector(seq: number, { id, model }: Collection, expiresAt: string | null, vector: Vector): void {
    if (model === null) this.#sql.setModel.run(vector.model, vector.values.length, id);
    this.#sql.addVector.run(seq, bytesOf(vector.values));
    this.#sql.addBits.run(id, seq, expiresAt, bitsOf(vector.values));
  }
}

/** A text that identifies a writer. */
export function writerText({ kind, id }: Writer): string {
  return `${kind}:${id ?? ''}`;
}

function stored(raw: RawNote | undefined): StoredNote | null {
  return raw === undefined ? null : storedOf(raw);
}

function storedOf(raw: RawNote): StoredNote {
  const { seq, collection, writer, bytes } = raw;
  return { seq, collection, writer, bytes, note: noteOf(raw) };
}

function noteOf(raw: RawNote): Note {
  return {
    ...{ id: raw.id, scope: raw.scope as MemoryScope, collection: raw.name, text: raw.text },
    metadata: JSON.parse(raw.metadata) as Metadata,
    by: JSON.parse(raw.author) as Writer,
    ...{ via: raw.via as NoteVia, at: raw.at, expiresAt: raw.expires_at },
    origin: raw.origin === null ? null : (JSON.parse(raw.origin) as NoteOrigin),
    hasVector: raw.has_vector === 1,
  };
}
