/**
 * The memory of users: notes with text, metadata and vectors. The rules that the tests prove are in docs/formats/memory.md.
 *
 *   open → (save, search, get, …)* → close
 *
 * No other noun gets a `Memory`. In the app it is narrowed to what one caller may see (`app/caller-memory.ts`): a user at the routes
 * (`app/user-memory.ts`), a sandbox at its endpoint (`app/sandbox-memory.ts`), a token of the hub (`app/hub-caller.ts`); the tools of
 * the hub know that by an interface of the hub. A Chroma server stands beside the memory; it uses the settings below. The files of
 * the memory bank have a contract of their own, `bank/bank.ts`.
 *
 * Each user has a file, so no query can reach the notes of another one. Within it, every call names the scopes that the caller may
 * read: notes of other scopes do not exist for it. The memory checks sizes, models and quota; the caller of this contract decides
 * which scopes a request may name, and who the writer is.
 *
 * A save is acknowledged when its transaction is on disk; saves that arrive together share one. Searches run beside saves, and see
 * every note that was acknowledged before.
 *
 * A vector belongs to a model. The first vector of a collection fixes the model and its dimensions; others are refused.
 *
 * Faults: `not_found`, `conflict` (another model), `invalid`, `denied` (a note of another writer), `exhausted` (quota, size, disk full), `corrupt`,
 * `unavailable`.
 */
import type { BankLimits } from './model/bank.ts';
import type {
  MemoryLimits,
  MemoryScope,
  Metadata,
  MetadataValue,
  Note,
  NoteOrigin,
  NoteVia,
  Writer,
} from './model/memory.ts';

export interface Vector {
  readonly model: string;
  readonly values: readonly number[];
}

export interface NewNote {
  readonly scope: MemoryScope;
  readonly collection: string;
  readonly text: string;
  readonly metadata: Metadata;
  readonly by: Writer;
  readonly via: NoteVia;
  readonly expiresAt?: string | null;
  readonly origin?: NoteOrigin | null;
  readonly vector?: Vector | null;
  /**
   * A vector of another model than the collection's is dropped instead of refused: the writer did not choose the model.
   */
  readonly isVectorOptional?: boolean;
  /** A second save with the same key, writer and collection returns the first note, unless that has expired. */
  readonly key?: string;
}

/** Which notes a call is about. */
export interface Selection {
  /** Null: all scopes of the user. */
  readonly scopes: readonly MemoryScope[] | null;
  readonly collection?: string | undefined;
  /** Notes whose metadata has these values; of a list, one of them. */
  readonly where?: Readonly<Record<string, MetadataValue | readonly MetadataValue[]>> | undefined;
}

/** Has `text`, `vector`, or both. */
export interface Query extends Selection {
  readonly text?: string | undefined;
  readonly vector?: Vector | undefined;
  readonly limit: number;
}

export interface FoundNote {
  readonly note: Note;
  /** The score of reciprocal rank fusion: greater is better. Scores are comparable within one answer only. */
  readonly score: number;
  readonly foundBy: readonly ('text' | 'vector')[];
}

export interface NotePage extends Selection {
  /** Notes with smaller ids; null: from the newest. */
  readonly before: string | null;
  readonly limit: number;
}

export interface StoredVector extends Vector {
  readonly id: string;
}

export interface CollectionStatus {
  readonly scope: MemoryScope;
  readonly name: string;
  readonly notes: number;
  /** Null: none of its notes has a vector. */
  readonly model: string | null;
  readonly dimensions: number | null;
}

export interface MemoryStatus {
  readonly notes: number;
  /** The bytes that count against the quota. */
  readonly bytes: number;
  readonly collections: readonly CollectionStatus[];
  /** False: sqlite-vec cannot be loaded, and only text is searched. */
  readonly searchesVectors: boolean;
  /** Damaged files that were set aside. */
  readonly setAside: readonly string[];
}

export interface Memory {
  /** Durable when it resolves. */
  save(note: NewNote): Promise<Note>;
  search(query: Query): Promise<readonly FoundNote[]>;
  get(id: string, scopes: readonly MemoryScope[] | null): Promise<Note | null>;
  /** The newest first. */
  list(page: NotePage): Promise<readonly Note[]>;
  vectors(ids: readonly string[]): Promise<readonly StoredVector[]>;
  /** `not_found` if the note is in none of the scopes; `denied` if `by` is not null and did not write it. */
  remove(id: string, scopes: readonly MemoryScope[] | null, by: Writer | null): Promise<Note>;
  /** Removes all selected notes. Returns how many. */
  removeAll(selection: Selection): Promise<number>;
  /** Removes notes that have expired or are older than `keepDays`. Returns how many. */
  expire(now: Date, keepDays: number | null): Promise<number>;
  status(scopes: readonly MemoryScope[] | null): Promise<MemoryStatus>;
  close(): Promise<void>;
}

/** The memories of all users of a daemon. */
export interface Memories {
  /** `folder` is that of the user. A memory that is open already is returned unchanged. */
  open(folder: string, limits: MemoryLimits): Promise<Memory>;
  close(): Promise<void>;
}

/** A server, of the owner or of others, that gets requests. */
export interface RemoteSettings {
  readonly url: string;
  /** The name of a credential of the owner; null: the server needs none. */
  readonly credential: string | null;
}

export type EmbeddingSettings =
  | (RemoteSettings & { readonly kind: 'endpoint'; readonly model: string })
  | { readonly kind: 'package'; readonly model: string };

export type ChromaSettings = ({ readonly kind: 'remote' } & RemoteSettings) | { readonly kind: 'local' };

/** Section `memory` of config.yaml. */
export interface MemorySettings {
  readonly limits: MemoryLimits;
  readonly keepDays: number | null;
  readonly bank: BankLimits;
  readonly embedding: EmbeddingSettings | null;
  /** Null: sandboxes have no Chroma. */
  readonly chroma: ChromaSettings | null;
}
