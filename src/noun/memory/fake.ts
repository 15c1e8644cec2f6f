/** A memory in an array, for tests of code that saves and searches. Each fault in `failSaves` fails one save. */
import type { Fault } from '../../model/fault.ts';
import { ulidAfter } from '../../model/ulid.ts';
import { checkNote, mixedModels, noNote, notWriter, overQuota } from './check.ts';
import type {
  CollectionStatus,
  FoundNote,
  Memory,
  MemoryStatus,
  NewNote,
  NotePage,
  Query,
  Selection,
  Vector,
} from './memory.ts';
import { defaultMemoryLimits, type MemoryLimits, type MemoryScope, type Note, type Writer } from './model/memory.ts';
import { fuse } from './search/rank.ts';

interface Kept {
  readonly note: Note;
  readonly vector: Vector | null;
  readonly key: string | undefined;
  readonly bytes: number;
}

const dayMs = 86_400_000;

export class FakeMemory implements Memory {
  #kept: Kept[] = [];
  readonly #limits: MemoryLimits;
  readonly #now: () => Date;
  failSaves: Fault[] = [];

  constructor(limits: MemoryLimits = defaultMemoryLimits, now = () => new Date()) {
    this.#limits = limits;
    this.#now = now;
  }

  async save(asked: NewNote): Promise<Note> {
    const failure = this.failSaves.shift();
    if (failure) throw failure;
    checkNote(asked, this.#limits);
    const now = this.#now();
    const known = asked.key === undefined ? undefined : this.#kept.find((one) => isSameSave(one, asked));
    if (known && !isExpired(known.note, now)) return known.note;
    const vector = this.#fitting(asked);
    const { scope, collection, text, metadata, by, via, expiresAt = null, origin = null } = asked;
    const bytes = text.length + JSON.stringify(metadata).length + (vector?.values.length ?? 0) * 4;
    if (this.#bytes() + bytes > this.#limits.totalBytes) throw overQuota(this.#limits.totalBytes);
    const id = ulidAfter(this.#kept.at(-1)?.note.id ?? null, now.getTime());
    if (known) this.#kept.splice(this.#kept.indexOf(known), 1);
    const rest = { by, via, at: now.toISOString(), expiresAt, origin, hasVector: vector !== null };
    const note = { id, scope, collection, text, metadata, ...rest };
    this.#kept.push({ note, vector, key: asked.key, bytes });
    return note;
  }

  async search({ text, vector, limit, ...selection }: Query): Promise<readonly FoundNote[]> {
    const kept = this.#selected(selection);
    const ids = (order: readonly Kept[]) => order.map(({ note }) => note.id);
    const orders = {
      ...(text === undefined ? {} : { text: ids(byWords(kept, text)) }),
      ...(vector === undefined ? {} : { vector: ids(byAngle(kept, vector)) }),
    };
    return fuse(orders, limit).map(({ item, score, orders: foundBy }) => ({
      note: kept.find(({ note }) => note.id === item)!.note,
      score,
      foundBy: foundBy as FoundNote['foundBy'],
    }));
  }

  async get(id: string, scopes: readonly MemoryScope[] | null): Promise<Note | null> {
    return this.#selected({ scopes }).find(({ note }) => note.id === id)?.note ?? null;
  }

  async list({ before, limit, ...selection }: NotePage): Promise<readonly Note[]> {
    const notes = this.#selected(selection).map(({ note }) => note);
    return notes
      .filter(({ id }) => before === null || id < before)
      .toReversed()
      .slice(0, limit);
  }

  async vectors(ids: readonly string[]) {
    return this.#kept.flatMap(({ note, vector }) =>
      vector && ids.includes(note.id) ? [{ id: note.id, ...vector }] : [],
    );
  }

  async remove(id: string, scopes: readonly MemoryScope[] | null, by: Writer | null): Promise<Note> {
    const note = await this.get(id, scopes);
    if (note === null) throw noNote(id);
    if (by !== null && (by.kind !== note.by.kind || by.id !== note.by.id)) throw notWriter(id);
    this.#kept = this.#kept.filter((one) => one.note !== note);
    return note;
  }

  async removeAll(selection: Selection): Promise<number> {
    const going = this.#selected(selection);
    this.#kept = this.#kept.filter((one) => !going.includes(one));
    return going.length;
  }

  async expire(now: Date, keepDays: number | null): Promise<number> {
    const oldest = keepDays === null ? '' : new Date(now.getTime() - keepDays * dayMs).toISOString();
    const before = this.#kept.length;
    this.#kept = this.#kept.filter(({ note }) => note.at >= oldest && !isExpired(note, now));
    return before - this.#kept.length;
  }

  async status(scopes: readonly MemoryScope[] | null): Promise<MemoryStatus> {
    const kept = this.#selected({ scopes });
    const collections = new Map<string, CollectionStatus>();
    for (const { note, vector } of kept) {
      const name = `${note.scope} ${note.collection}`;
      const known = collections.get(name) ?? {
        scope: note.scope,
        name: note.collection,
        notes: 0,
        model: null,
        dimensions: null,
      };
      const about = vector === null ? {} : { model: vector.model, dimensions: vector.values.length };
      collections.set(name, { ...known, notes: known.notes + 1, ...about });
    }
    const bytes = this.#bytes();
    return { notes: kept.length, bytes, collections: [...collections.values()], searchesVectors: true, setAside: [] };
  }

  async close(): Promise<void> {}

  #bytes(): number {
    return this.#kept.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** The vector to store; null: none. */
  #fitting({ scope, collection, vector = null, isVectorOptional = false }: NewNote): Vector | null {
    if (vector === null) return null;
    const inIt = this.#kept.filter(({ note }) => note.scope === scope && note.collection === collection);
    const expected = inIt.find((one) => one.vector !== null)?.vector;
    if (!expected || modelText(expected) === modelText(vector)) return vector;
    if (isVectorOptional) return null;
    throw mixedModels(collection, modelText(expected), modelText(vector));
  }

  #selected({ scopes, collection, where = {} }: Selection): Kept[] {
    const now = this.#now();
    const fits = ({ metadata }: Note) =>
      Object.entries(where).every(([key, value]) => [value].flat().includes(metadata[key] as never));
    return this.#kept.filter(
      ({ note }) =>
        (scopes === null || scopes.includes(note.scope)) &&
        (collection === undefined || note.collection === collection) &&
        !isExpired(note, now) &&
        fits(note),
    );
  }
}

function isExpired({ expiresAt }: Note, now: Date): boolean {
  return expiresAt !== null && expiresAt <= now.toISOString();
}

function isSameSave({ note, key }: Kept, asked: NewNote): boolean {
  const isSamePlace = note.scope === asked.scope && note.collection === asked.collection;
  return key === asked.key && isSamePlace && note.by.kind === asked.by.kind && note.by.id === asked.by.id;
}

function modelText({ model, values }: Vector): string {
  return `${model} with ${values.length} dimensions`;
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function byWords(kept: readonly Kept[], text: string): Kept[] {
  const asked = new Set(wordsOf(text));
  const score = ({ note }: Kept) => wordsOf(note.text).filter((word) => asked.has(word)).length;
  return kept.filter((one) => score(one) > 0).sort((a, b) => score(b) - score(a));
}

function byAngle(kept: readonly Kept[], vector: Vector): Kept[] {
  const norm = (values: readonly number[]) => Math.hypot(...values);
  const cosine = (values: readonly number[]) =>
    values.reduce((sum, value, index) => sum + value * vector.values[index]!, 0) / norm(values);
  return kept
    .filter((one) => one.vector !== null && modelText(one.vector) === modelText(vector))
    .sort((a, b) => cosine(b.vector!.values) - cosine(a.vector!.values));
}
