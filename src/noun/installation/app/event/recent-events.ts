/**
 * The newest events in the form in which they are sent: all followers share the same text, and none of them reads the
 * store for it.
 */

import type { SseEvent } from '../../../../kernel/server/route.ts';
import type { Event } from '../../../../model/event.ts';

export interface EncodedEvent {
  readonly event: Event;
  readonly sent: SseEvent;
}

const most = 256;

export class RecentEvents {
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

export function sentOf(event: Event): EncodedEvent {
  return { event, sent: { id: String(event.seq), event: event.type, data: JSON.stringify(event) } };
}
