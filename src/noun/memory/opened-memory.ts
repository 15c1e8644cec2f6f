/** The memory of a user over one connection to its file, in a thread. */
import type { Database } from 'better-sqlite3';
import { CommitQueue } from '../../lib/data/commit-queue.ts';
import { translated } from '../../lib/data/database-fault.ts';
import type { ThreadObjectKind } from '../../lib/wire/thread-objects.ts';
import { Fault } from '../../model/fault.ts';
import { ulidAfter } from '../../model/ulid.ts';
import { checkMetadataKey, checkNote, checkVector, mixedModels, noNote, notWriter, overQuota } from './check.ts';
import type {
  FoundNote,
  Memory,
  MemoryStatus,
  NewNote,
  NotePage,
  Query,
  Selection,
  StoredVector,
  Vector,
} from './memory.ts';
import { damagedMemories, type OpenOptions, openDatabase } from './memory-database.ts';
import { memoryFault } from './memory-fault.ts';
import type { MemoryLimits, MemoryScope, Note, Writer } from './model/memory.ts';
import { type Collection, Notes, type SelectedSql, type StoredNote, writerText } from './notes.ts';
import { fuse } from './search/rank.ts';
import { TextOrder, VectorOrder } from './search/search.ts';
import { valuesOf } from './search/vector.ts';

const dayMs = 86_400_000;
/** The most notes that are removed in one transaction. */
const batch = 500;

export interface OpenedMemoryOptions extends OpenOptions {
  readonly limits: MemoryLimits;
  readonly now: () => Date;
}

/** What a test may change. */
type TestOptions = Partial<Pick<OpenedMemoryOptions, 'now' | 'extension'>>;

export function memoryObjects(options: TestOptions = {}): ThreadObjectKind<OpenedMemory> {
  const now = () => new Date();
  return {
    open: (folder, [limits, check]: readonly [MemoryLimits, boolean]) =>
      new OpenedMemory(folder, { now, ...options, limits, check }),
    notOpen: (folder) => new Fault('unavailable', `the memory in ${folder} is not open`),
    faultOf: memoryFault,
  };
}

export class OpenedMemory implements Memory {
  readonly #folder: string;
  readonly #options: OpenedMemoryOptions;
  readonly #db: Database;
  readonly #notes: Notes;
  readonly #texts: TextOrder;
  /** Null: sqlite-vec cannot be loaded. */
  readonly #vectors: VectorOrder | null;
  readonly #queue: CommitQueue;

  constructor(folder: string, options: OpenedMemoryOptions) {
    const { db, hasVectors } = openDatabase(folder, options);
    this.#folder = folder;
    this.#options = options;
    this.#db = db;
    this.#notes = new Notes(db);
    this.#texts = new TextOrder(db);
    this.#vectors = hasVectors ? new VectorOrder(db) : null;
    const transaction = db.transaction((work: () => unknown) => work());
    this.#queue = new CommitQueue({
      transact: <T>(work: () => T) =>
        translated(
          () => transaction.immediate(work) as T,
          (error) => memoryFault(folder, error),
        ),
    });
  }

  async save(note: NewNote): Promise<Note> {
    checkNote(note, this.#options.limits);
    return this.#queue.run(() => this.#save(note));
  }

  async search({ text, vector, limit, ...selection }: Query): Promise<readonly FoundNote[]> {
    if (vector !== undefined) checkVector(vector, this.#options.limits.dimensions);
    const collections = this.#collections(selection);
    const selected = this.#selected(selection, collections);
    const orders = {
      ...(text === undefined ? {} : { text: this.#texts.find(text, selected) }),
      ...(vector === undefined ? {} : { vector: this.#byVector(vector, collections, selected) }),
    };
    const ranked = fuse(orders, limit);
    const notes = new Map(this.#notes.bySeqs(ranked.map(({ item }) => item)).map(({ seq, note }) => [seq, note]));
    // A note may be removed between the two statements.
    return ranked.flatMap(({ item, score, orders: foundBy }) => {
      const note = notes.get(item);
      return note === undefined ? [] : [{ note, score, foundBy: foundBy as FoundNote['foundBy'] }];
    });
  }

  async get(id: string, scopes: readonly MemoryScope[] | null): Promise<Note | null> {
    return this.#visible(id, scopes)?.note ?? null;
  }

  async list({ before, limit, ...selection }: NotePage): Promise<readonly Note[]> {
    const selected = this.#selected(selection, this.#collections(selection));
    return this.#notes.page(selected, before, limit).map(({ note }) => note);
  }

  async vectors(ids: readonly string[]): Promise<readonly StoredVector[]> {
    return this.#notes.vectors(ids).map(({ id, model, vector }) => ({ id, model, values: valuesOf(vector) }));
  }

  async remove(id: string, scopes: readonly MemoryScope[] | null, by: Writer | null): Promise<Note> {
    return this.#queue.run(() => {
      const found = this.#visible(id, scopes);
      if (found === null) throw noNote(id);
      if (by !== null && found.writer !== writerText(by)) throw notWriter(id);
      this.#notes.remove(found);
      return found.note;
    });
  }

  async removeAll(selection: Selection): Promise<number> {
    return this.#removeEach(() => {
      const selected = this.#selected(selection, this.#collections(selection));
      return this.#notes.page(selected, null, batch);
    });
  }

  async expire(now: Date, keepDays: number | null): Promise<number> {
    const oldest = keepDays === null ? '' : new Date(now.getTime() - keepDays * dayMs).toISOString();
    return this.#removeEach(() => this.#notes.expired(now.toISOString(), oldest, batch));
  }

  async status(scopes: readonly MemoryScope[] | null): Promise<MemoryStatus> {
    const collections = this.#collections({ scopes });
    return {
      notes: collections.reduce((sum, { notes }) => sum + notes, 0),
      bytes: this.#notes.total().bytes,
      collections: collections.map(({ id: _, vectors: __, ...rest }) => rest),
      searchesVectors: this.#vectors !== null,
      setAside: damagedMemories(this.#folder),
    };
  }

  async close(): Promise<void> {
    this.#queue.flush();
    this.#db.close();
  }

  /** Checks everything before it writes. */
  #save(note: NewNote): Note {
    const { scope, collection: name, by, key, text, metadata } = note;
    const collection = this.#notes.collection(scope, name);
    const known = key === undefined || collection === null ? null : this.#notes.byKey(collection.id, by, key);
    if (known !== null && !this.#isExpired(known)) return known.note;
    const vector = fitting(note, collection);
    const total = this.#notes.total();
    const { totalBytes, collections } = this.#options.limits;
    const textBytes = Buffer.byteLength(text) + Buffer.byteLength(JSON.stringify(metadata));
    const bytes = textBytes + (vector?.values.length ?? 0) * 4;
    if (total.bytes + bytes > totalBytes) throw overQuota(totalBytes);
    if (collection === null && this.#notes.collections().length >= collections) {
      throw new Fault('exhausted', `there are ${collections} collections already`);
    }
    if (known !== null) this.#notes.remove(known);
    const now = this.#options.now();
    const id = ulidAfter(total.lastId, now.getTime());
    return this.#notes.insert(id, now.toISOString(), bytes, note, vector);
  }

  /** Removes notes batch by batch, so that saves run in between. */
  async #removeEach(next: () => readonly StoredNote[]): Promise<number> {
    for (let removed = 0; ; ) {
      const count = await this.#queue.run(() => {
        const notes = next();
        for (const note of notes) this.#notes.remove(note);
        return notes.length;
      });
      if (count === 0) return removed;
      removed += count;
    }
  }

  #byVector(vector: Vector, collections: readonly Collection[], selected: SelectedSql): number[] {
    const fit = collections.filter((one) => one.model === vector.model && one.dimensions === vector.values.length);
    return this.#vectors?.find(vector, fit, selected) ?? [];
  }

  #collections({ scopes, collection }: Selection): Collection[] {
    const isWanted = ({ scope, name }: Collection) =>
      (scopes === null || scopes.includes(scope)) && (collection === undefined || collection === name);
    return this.#notes.collections().filter(isWanted);
  }

  #selected({ where = {} }: Selection, collections: readonly Collection[]): SelectedSql {
    for (const key of Object.keys(where)) checkMetadataKey(key);
    const lists = Object.fromEntries(Object.entries(where).map(([key, value]) => [key, [value].flat()]));
    return {
      collections: JSON.stringify(collections.map(({ id }) => id)),
      where: JSON.stringify(lists),
      now: this.#options.now().toISOString(),
    };
  }

  #visible(id: string, scopes: readonly MemoryScope[] | null): StoredNote | null {
    const found = this.#notes.get(id);
    if (found === null || this.#isExpired(found)) return null;
    return scopes === null || scopes.includes(found.note.scope) ? found : null;
  }

  #isExpired({ note: { expiresAt } }: StoredNote): boolean {
    return expiresAt !== null && expiresAt <= this.#options.now().toISOString();
  }
}

/** The vector that is stored; null: none. */
function fitting({ vector = null, isVectorOptional }: NewNote, collection: Collection | null): Vector | null {
  if (vector === null || collection === null || collection.model === null) return vector;
  if (collection.model === vector.model && collection.dimensions === vector.values.length) return vector;
  if (isVectorOptional) return null;
  const [expected, given] = [collection, { model: vector.model, dimensions: vector.values.length }].map(
    ({ model, dimensions }) => `${model} with ${dimensions} dimensions`,
  );
  throw mixedModels(collection.name, expected!, given!);
}
