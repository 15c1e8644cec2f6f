/** Events for the users that may see them. An event `events.dropped` stands for those that are no longer kept. */

import { setImmediate as breathe } from 'node:timers/promises';
import type { SseEvent } from '../../../../kernel/server/route.ts';
import type { Store } from '../../../../kernel/store/store.ts';
import { FairTurns } from '../../../../lib/flow/fair-turns.ts';
import type { Event } from '../../../../model/event.ts';
import type { Actor } from '../../../../model/user.ts';

const pageSize = 1000;
/** Followers take turns, because one event wakes all of them at once. */
const turns = new FairTurns();
const recents = new WeakMap<EventSource, RecentEvents>();

export type EventSource = Pick<Store, 'events' | 'firstSeq' | 'lastSeq' | 'subscribe'>;

export interface Follow {
  readonly after?: number | undefined;
  /** The Last-Event-ID of a client that connects again. */
  readonly lastEventId?: string | undefined;
  readonly signal: AbortSignal;
}

/** At most `limit` events after a sequence number; without a number, from the oldest that is kept. */
export async function eventsAfter(store: EventSource, actor: Actor, after = 0, limit = pageSize): Promise<Event[]> {
  const wanted = Math.min(limit, pageSize);
  const found: Event[] = gapAfter(store, after);
  for (let seq = after; found.length < wanted; ) {
    const page = store.events(seq, pageSize);
    if (page.length === 0) break;
    seq = page.at(-1)!.seq;
    found.push(...page.filter((event) => maySee(actor, event)));
    // Long pages of other users' events must not keep the daemon from answering.
    await breathe();
  }
  return found.slice(0, wanted);
}

function recentOf(store: EventSource): RecentEvents {
  const known = recents.get(store) ?? new RecentEvents(store);
  recents.set(store, known);
  return known;
}

/** Replays from the store, then yields events as they are written, so that none is missed in between. */
export async function* followEvents(
  store: EventSource,
  actor: Actor,
  { after, lastEventId, signal }: Follow,
): AsyncGenerator<SseEvent> {
  const lastId = Number(lastEventId ?? Number.NaN);
  let seq = Number.isSafeInteger(lastId) ? lastId : (after ?? store.lastSeq());
  const recent = recentOf(store);
  let wake = () => {};
  const unsubscribe = store.subscribe(() => wake());
  const stop = () => wake();
  signal.addEventListener('abort', stop);
  try {
    while (!signal.aborted) {
      const events = recent.after(seq) ?? [...gapAfter(store, seq), ...store.events(seq, pageSize)].map(sentOf);
      for (const { event, sent } of events) {
        seq = event.seq;
        if (maySee(actor, event)) yield sent;
      }
      if (events.length > 0 || signal.aborted) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      await turns.next();
    }
  } finally {
    signal.removeEventListener('abort', stop);
    unsubscribe();
  }
}

const dropped = 'events.dropped';

/**
 * The event for those between the last event that a client had and the oldest that is kept. A client that had none gets
 * none.
 */
function gapAfter(store: EventSource, seq: number): Event[] {
  const first = store.firstSeq();
  if (seq === 0 || seq + 1 >= first) return [];
  const data = { from: seq + 1, to: first - 1 };
  return [{ seq: first - 1, at: new Date().toISOString(), type: dropped, subject: '', data }];
}

/** Only the owner sees the events of other users. */
function maySee({ name, isOwner }: Actor, { type, data }: Event): boolean {
  return isOwner || data.user === name || type === dropped;
}

interface EncodedEvent {
  readonly event: Event;
  readonly sent: SseEvent;
}

const most = 256;

/**
 * The newest events in the form in which they are sent: all followers share the same text, and none of them reads the
 * store for it.
 */
class RecentEvents {
  #events: readonly EncodedEvent[] = [];

  constructor(store: { subscribe(listener: (event: Event) => void): unknown }) {
    store.subscribe((event) => {
      this.#events = [...this.#events, sentOf(event)].slice(-most);
    });
  }

  /** The events after a sequence number; null: some of them are not held here. */
  after(seq: number): readonly EncodedEvent[] | null {
    const [first] = this.#events;
    if (first === undefined || first.event.seq > seq + 1) return null;
    return this.#events.slice(this.#events.findLastIndex(({ event }) => event.seq <= seq) + 1);
  }
}

function sentOf(event: Event): EncodedEvent {
  return { event, sent: { id: String(event.seq), event: event.type, data: JSON.stringify(event) } };
}
