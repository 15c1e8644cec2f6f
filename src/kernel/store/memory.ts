/**
 * A store in memory, for tests; and the parts that every store uses: faults, a feed for listeners, a bound on events.
 *
 * Values are kept as JSON text, as on disk, so a caller can neither alias a stored value nor store a value that
 * JSON cannot hold.
 */
import type { Event, NewEvent } from '../../model/event.ts';
import { asFault, Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';
import {
  defaultMaxEvents,
  type Kinds,
  type NewRow,
  type Row,
  type RowKind,
  type Store,
  type StoreOptions,
} from './store.ts';

const maxPage = 100_000;

/** The seq up to which events are pruned, so that at most `maxEvents` stay; null: no events are pruned at this seq. */
export function expiredUpTo(seq: number, maxEvents: number): number | null {
  const pruneEvery = Math.ceil(Math.min(1000, maxEvents / 10));
  return seq % pruneEvery === 0 ? seq - (maxEvents - pruneEvery) : null;
}

export function boundedLimit(limit: number): number {
  return Math.max(0, Math.min(limit, maxPage));
}

/** Encodes a value as JSON. A value that is not JSON is a bug, found before anything is written. */
export function encode(value: unknown): string {
  try {
    const text = JSON.stringify(value);
    if (text !== undefined) return text;
  } catch (error) {
    throw new Fault('internal', `cannot store what is not JSON: ${asFault(error).message}`, { cause: error });
  }
  throw new Fault('internal', 'cannot store what is not JSON: undefined');
}

type Identity = Pick<Row<RowKind>, 'kind' | 'id' | 'name'>;

export const refusal = {
  idTaken: (row: Identity) =>
    new Fault('conflict', `${row.kind} ${printable(row.name)}: the id ${printable(row.id)} is taken`),
  nameTaken: (row: Identity) =>
    new Fault('conflict', `${row.kind} ${printable(row.name)} already exists`, { hint: 'Choose another name.' }),
  moved: (row: Identity) =>
    new Fault('conflict', `${row.kind} ${printable(row.name)} was changed by another request meanwhile`, {
      hint: 'Read it again and repeat the change.',
    }),
  gone: (row: Identity) => new Fault('not_found', `${row.kind} ${printable(row.name)} does not exist any more`),
  closed: () => new Fault('unavailable', 'the store is closed'),
};

/** An event with its data as JSON text. */
export type RawEvent = Omit<Event, 'data'> & { readonly data: string };

export function eventOf(raw: RawEvent): Event {
  return { ...raw, data: JSON.parse(raw.data) };
}

interface Subscription {
  readonly listener: (event: Event) => void;
}

/**
 * Calls listeners in the order of the writes, even if a listener writes: its event is queued until all listeners got
 * the one before. A listener gets only events of writes made while it was subscribed. A listener that throws causes a
 * process warning and stays subscribed.
 */
export class Feed {
  readonly #subscriptions = new Set<Subscription>();
  readonly #queue: { readonly event: RawEvent; readonly audience: readonly Subscription[] }[] = [];
  #telling = false;

  subscribe(listener: (event: Event) => void): () => void {
    const subscription = { listener };
    this.#subscriptions.add(subscription);
    return () => void this.#subscriptions.delete(subscription);
  }

  publish(event: RawEvent): void {
    if (this.#subscriptions.size === 0) return;
    this.#queue.push({ event, audience: [...this.#subscriptions] });
    if (this.#telling) return;
    this.#telling = true;
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      for (const subscription of next.audience) this.#tell(subscription, next.event);
    }
    this.#telling = false;
  }

  clear(): void {
    this.#subscriptions.clear();
  }

  #tell(subscription: Subscription, event: RawEvent): void {
    if (!this.#subscriptions.has(subscription)) return;
    try {
      subscription.listener(eventOf(event));
    } catch (error) {
      warn(error);
    }
  }
}

function warn(error: unknown): void {
  const detail = error instanceof Error ? error.stack : undefined;
  process.emitWarning(`a listener of the store threw, ignoring: ${asFault(error).message}`, {
    type: 'StoreListenerWarning',
    ...(detail === undefined ? {} : { detail }),
  });
}

export function createMemoryStore({ maxEvents = defaultMaxEvents }: StoreOptions = {}): Store {
  return new MemoryStore(maxEvents);
}

interface Entry extends Omit<Row<RowKind>, 'value'> {
  readonly text: string;
}

class MemoryStore implements Store {
  readonly #entries = new Map<string, Entry>();
  readonly #events: RawEvent[] = [];
  readonly #feed = new Feed();
  readonly #maxEvents: number;
  #lastSeq = 0;
  #closed = false;

  constructor(maxEvents: number) {
    this.#maxEvents = maxEvents;
  }

  get<K extends RowKind>(kind: K, id: string): Row<K> | null {
    this.#open();
    const entry = this.#entries.get(keyOf(kind, id));
    return entry ? decode(entry) : null;
  }

  find<K extends RowKind>(kind: K, owner: string, name: string): Row<K> | null {
    this.#open();
    const entry = this.#named(kind, owner, name);
    return entry ? decode(entry) : null;
  }

  list<K extends RowKind>(kind: K, owner?: string): readonly Row<K>[] {
    return this.#those(kind, owner).map((entry) => decode<K>(entry));
  }

  count(kind: RowKind, owner?: string): number {
    return this.#those(kind, owner).length;
  }

  #those(kind: RowKind, owner?: string): Entry[] {
    this.#open();
    const isMeant = (entry: Entry) => entry.kind === kind && (owner === undefined || entry.owner === owner);
    return [...this.#entries.values()].filter(isMeant);
  }

  insert<K extends RowKind>(row: NewRow<K>, event: NewEvent): Row<K> {
    this.#open();
    const { kind, id, owner, name } = row;
    if (this.#entries.has(keyOf(kind, id))) throw refusal.idTaken(row);
    if (this.#named(kind, owner, name)) throw refusal.nameTaken(row);
    const text = encode(row.value);
    return this.#write(event, (revision) => this.#put<K>({ kind, id, owner, name, revision, text }));
  }

  update<K extends RowKind>(row: Row<K>, value: Kinds[K], event: NewEvent): Row<K> {
    this.#open();
    const entry = this.#current(row);
    const text = encode(value);
    return this.#write(event, (revision) => this.#put<K>({ ...entry, revision, text }));
  }

  remove<K extends RowKind>(row: Row<K>, event: NewEvent): void {
    this.#open();
    this.#current(row);
    this.#write(event, () => this.#entries.delete(keyOf(row.kind, row.id)));
  }

  events(after: number, limit: number): readonly Event[] {
    this.#open();
    const later = this.#events.filter((event) => event.seq > after);
    return later.slice(0, boundedLimit(limit)).map(eventOf);
  }

  lastSeq(): number {
    this.#open();
    return this.#lastSeq;
  }

  firstSeq(): number {
    this.#open();
    return this.#events[0]?.seq ?? this.#lastSeq + 1;
  }

  subscribe(listener: (event: Event) => void): () => void {
    this.#open();
    return this.#feed.subscribe(listener);
  }

  async flushed(): Promise<void> {
    this.#open();
  }

  close(): void {
    this.#closed = true;
    this.#feed.clear();
  }

  #open(): void {
    if (this.#closed) throw refusal.closed();
  }

  #named(kind: RowKind, owner: string, name: string): Entry | undefined {
    return [...this.#entries.values()].find((entry) => {
      return entry.kind === kind && entry.owner === owner && entry.name === name;
    });
  }

  #current(row: Row<RowKind>): Entry {
    const entry = this.#entries.get(keyOf(row.kind, row.id));
    if (!entry) throw refusal.gone(row);
    if (entry.revision !== row.revision) throw refusal.moved(row);
    return entry;
  }

  /** Everything that can fail comes before the change, so that the event and the change happen both or not at all. */
  #write<T>(event: NewEvent, change: (seq: number) => T): T {
    const data = encode(event.data);
    const stored = { seq: this.#lastSeq + 1, at: event.at, type: event.type, subject: event.subject, data };
    this.#lastSeq = stored.seq;
    this.#events.push(stored);
    const result = change(stored.seq);
    this.#prune(stored.seq);
    this.#feed.publish(stored);
    return result;
  }

  #put<K extends RowKind>(entry: Entry): Row<K> {
    this.#entries.set(keyOf(entry.kind, entry.id), entry);
    return decode(entry);
  }

  #prune(seq: number): void {
    const expired = expiredUpTo(seq, this.#maxEvents);
    if (expired === null) return;
    const kept = this.#events.findIndex((event) => event.seq > expired);
    this.#events.splice(0, kept);
  }
}

function keyOf(kind: RowKind, id: string): string {
  return `${kind} ${id}`;
}

function decode<K extends RowKind>({ text, ...identity }: Entry): Row<K> {
  return { ...identity, value: JSON.parse(text) } as Row<K>;
}
