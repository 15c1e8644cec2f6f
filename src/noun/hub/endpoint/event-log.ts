/** The newest messages of one session, for clients that resume a stream by `Last-Event-ID`. */
import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server';
import { Fault } from '../../../model/fault.ts';

export interface EventLimits {
  readonly count: number;
  readonly bytes: number;
}

interface Stored {
  readonly stream: string;
  /** Null: it only marks the beginning of a stream. */
  readonly message: JSONRPCMessage | null;
  readonly bytes: number;
}

export class EventLog implements EventStore {
  readonly #limits: EventLimits;
  /** Oldest first. Only the oldest are dropped, so all events after a kept one are kept, too. */
  readonly #events = new Map<string, Stored>();
  #bytes = 0;
  #last = 0;

  constructor(limits: EventLimits) {
    this.#limits = limits;
  }

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    const text = JSON.stringify(message);
    const isMark = text === '{}';
    const id = String(++this.#last);
    this.#events.set(id, { stream, message: isMark ? null : message, bytes: text.length });
    this.#bytes += text.length;
    this.#trim();
    return id;
  }

  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.#events.get(id)?.stream;
  }

  async replayEventsAfter(
    last: string,
    { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const from = this.#events.get(last);
    if (!from) throw new Fault('not_found', `there is no event ${last} to continue after`);
    const missed = [...this.#events].filter(([id, { stream }]) => Number(id) > Number(last) && stream === from.stream);
    for (const [id, { message }] of missed) if (message !== null) await send(id, message);
    return from.stream;
  }

  /** The newest event stays, whatever its size. */
  #trim(): void {
    for (const [id, { bytes }] of this.#events) {
      const isWithin = this.#events.size <= this.#limits.count && this.#bytes <= this.#limits.bytes;
      if (isWithin || this.#events.size === 1) return;
      this.#events.delete(id);
      this.#bytes -= bytes;
    }
  }
}
