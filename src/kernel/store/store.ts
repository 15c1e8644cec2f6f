/**
 * The store holds the state of an installation. Everything else is derived from it or observed.
 *
 * It keeps rows: a JSON value under a kind and an id, with a name that is unique per kind and owner, and a revision
 * that grows with every write. Life cycle of a row: inserted → updated any number of times → removed. A write carries
 * the row it was made from; when another write came first it is refused with `conflict` and changes nothing. A write
 * and its event are committed together or not at all. The store has no clock: callers pass the time.
 *
 * Writes are durable when the call returns, power cuts included, unless `lazy` says that a crash of the machine may
 * undo them: suitable for state that can be observed again. A change that a user requested may be lazy only if the
 * caller awaits `flushed` before it answers the user: the disk works while the daemon continues.
 *
 * Every call is synchronous, so a read and the write built on it cannot be interleaved within the daemon.
 *
 * On a full disk rows can still be changed and removed, as far as space was reserved for that; new ones are refused.
 *
 * Faults: `conflict` (name or id taken, revision moved), `not_found` (the row is gone), `exhausted` (disk full),
 * `corrupt` (damaged, or written by a newer Carrel), `unavailable` (closed or locked).
 */
import type { Event, NewEvent } from '../../model/event.ts';
import type { NounRows } from '../../noun/rows.ts';

/** Each kind of row and its value. A new noun adds a line to `NounRows`, no table. */
export type Kinds = NounRows;

export type RowKind = keyof Kinds;

export interface Row<K extends RowKind> {
  readonly kind: K;
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  readonly revision: number;
  readonly value: Kinds[K];
}

export type NewRow<K extends RowKind> = Omit<Row<K>, 'revision'>;

export interface WriteOptions {
  readonly lazy?: boolean;
}

export interface StoreOptions {
  /** The maximum number of events that are kept; at least nine tenths of it stay. */
  readonly maxEvents?: number;
  /** Frees reserved space on a full disk for changing and removing rows; false when there is none left. */
  readonly giveUpSpace?: () => boolean;
}

export const defaultMaxEvents = 100_000;

export interface Store {
  get<K extends RowKind>(kind: K, id: string): Row<K> | null;
  find<K extends RowKind>(kind: K, owner: string, name: string): Row<K> | null;
  /** All rows of a kind, or those of an owner, in the order they were inserted. */
  list<K extends RowKind>(kind: K, owner?: string): readonly Row<K>[];
  /** How many rows `list` would return, without reading them. */
  count(kind: RowKind, owner?: string): number;

  insert<K extends RowKind>(row: NewRow<K>, event: NewEvent, options?: WriteOptions): Row<K>;
  update<K extends RowKind>(row: Row<K>, value: Kinds[K], event: NewEvent, options?: WriteOptions): Row<K>;
  remove<K extends RowKind>(row: Row<K>, event: NewEvent, options?: WriteOptions): void;

  /** Settles when every write before the call survives a power cut. */
  flushed(): Promise<void>;

  /** Events with `seq` greater than `after`, oldest first. The oldest are pruned. */
  events(after: number, limit: number): readonly Event[];
  lastSeq(): number;
  /** The seq of the oldest event that is kept; one more than `lastSeq` if there is none. */
  firstSeq(): number;
  /** Calls the listener after each write, in order, with its event. Returns a function that unsubscribes. */
  subscribe(listener: (event: Event) => void): () => void;

  /** Idempotent. Every later call fails with `unavailable`. */
  close(): void;
}
