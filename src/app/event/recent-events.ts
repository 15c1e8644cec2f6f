/**
 * The newest events in the form in which they are sent: all followers share the same text, and none of them reads the
 * store for it.
 */
import type { Event } from '../../model/event.ts';
import type { Sent } from '../route.ts';

export interface SentEvent {
  readonly event: Event;
  readonly sent: Sent;
}

const most = 256;

export class RecentEvents {
  #events: readonly SentEvent[] = [];

  constructor(store: { subscribe(listener: (event: Event) => void): unknown }) {
    store.subscribe((event) => {
      this.#events = [...this.#events, sentOf(event)].slice(-most);
    });
  }

  /** The events after a sequence number; null: some of them are not held here. */
  after(seq: number): readonly SentEvent[] | null {
    const [first] = this.#events;
    if (first === undefined || first.event.seq > seq + 1) return null;
    return this.#events.slice(this.#events.findLastIndex(({ event }) => event.seq <= seq) + 1);
  }
}

export function sentOf(event: Event): SentEvent {
  return { event, sent: { id: String(event.seq), event: event.type, data: JSON.stringify(event) } };
}
