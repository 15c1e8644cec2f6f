/** The events of a store: how many are kept and returned, and the feed of its listeners. */
import type { Event } from '../../model/event.ts';
import { asFault } from '../../model/fault.ts';

const maxPage = 100_000;

/** The seq up to which events are pruned, so that at most `maxEvents` stay; null: no events are pruned at this seq. */
export function expiredUpTo(seq: number, maxEvents: number): number | null {
  const pruneEvery = Math.ceil(Math.min(1000, maxEvents / 10));
  return seq % pruneEvery === 0 ? seq - (maxEvents - pruneEvery) : null;
}

export function boundedLimit(limit: number): number {
  return Math.max(0, Math.min(limit, maxPage));
}

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
  #isNotifying = false;

  subscribe(listener: (event: Event) => void): () => void {
    const subscription = { listener };
    this.#subscriptions.add(subscription);
    return () => void this.#subscriptions.delete(subscription);
  }

  publish(event: RawEvent): void {
    if (this.#subscriptions.size === 0) return;
    this.#queue.push({ event, audience: [...this.#subscriptions] });
    if (this.#isNotifying) return;
    this.#isNotifying = true;
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      for (const subscription of next.audience) this.#notify(subscription, next.event);
    }
    this.#isNotifying = false;
  }

  clear(): void {
    this.#subscriptions.clear();
  }

  #notify(subscription: Subscription, event: RawEvent): void {
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
