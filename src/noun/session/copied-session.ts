/** The copy of one session. */

import { type DurableEntry, DurableLog } from '../../lib/data/durable-log.ts';
import { parseBounded } from '../../lib/wire/bounded-json.ts';
import { asFault, Fault } from '../../model/fault.ts';
import { EventOrder } from './event-order.ts';
import { sessionEvent } from './model/event.ts';
import { SessionFold } from './model/fold.ts';
import { type SessionEvent, sessionLimits } from './model/session.ts';
import type { CopiedEvent, CopiedSession } from './session.ts';

/** Events that the agent API adds after its own limit, such as the end of a turn, fit, too. */
const maxBytes = sessionLimits.logBytes + 2 * sessionLimits.eventBytes;

export class SessionCopy implements CopiedSession {
  readonly id: string;
  readonly fold: SessionFold;
  readonly #log: DurableLog<SessionEvent>;
  readonly #pending = new Set<Promise<unknown>>();
  #order: EventOrder;

  static async open(path: string, id: string): Promise<SessionCopy> {
    const fold = new SessionFold();
    const order = new EventOrder(fold);
    const log = await DurableLog.open<SessionEvent>(path, {
      ...{ maxBytes, maxLineBytes: sessionLimits.eventBytes },
      parse: (line, number) => (number > fold.seq ? inOrder(order, eventOf(id, line)) : eventOf(id, line)),
      take: ({ item }) => fold.take(item),
      damagedPath: () => `${path}.damaged-${Date.now()}`,
    });
    return new SessionCopy(id, fold, log);
  }

  private constructor(id: string, fold: SessionFold, log: DurableLog<SessionEvent>) {
    this.id = id;
    this.fold = fold;
    this.#log = log;
    this.#order = new EventOrder(fold);
  }

  append(line: string): Promise<SessionEvent> {
    const item = inOrder(this.#order, eventOf(this.id, line));
    const appended = this.#log.append((number) => entryAt(number, { item, line }));
    this.#pending.add(appended);
    const done = () => void this.#pending.delete(appended);
    appended.then(done, done);
    return appended.then(() => item);
  }

  async settle(): Promise<void> {
    await Promise.allSettled(this.#pending);
    this.#order = new EventOrder(this.fold);
  }

  async *follow(after: number, signal: AbortSignal): AsyncIterable<CopiedEvent> {
    for await (const { item, line } of this.#log.follow(after, signal)) yield { event: item, line };
  }

  async *lines(): AsyncIterable<string> {
    for await (const { line } of this.#log.read(0)) yield line;
  }

  digest(seq: number): Promise<string> {
    return this.#log.digest(seq);
  }

  close(): Promise<void> {
    return this.#log.close();
  }
}

/** Refuses a line that cannot be the first of a session. */
export function requireFirst(id: string, line: string): void {
  inOrder(new EventOrder(new SessionFold()), eventOf(id, line));
}

function inOrder(order: EventOrder, event: SessionEvent): SessionEvent {
  const problem = order.take(event);
  if (problem !== null) throw new Fault('corrupt', `session ${event.sessionId}: ${problem}`);
  return event;
}

/** Throws if an earlier append failed. */
function entryAt(number: number, entry: DurableEntry<SessionEvent>): DurableEntry<SessionEvent> {
  if (entry.item.seq === number) return entry;
  throw new Fault('unavailable', `event ${entry.item.seq} of session ${entry.item.sessionId} waits for the one before`);
}

function eventOf(id: string, line: string): SessionEvent {
  try {
    const event = sessionEvent(parseBounded(Buffer.from(line)), []);
    if (event.sessionId === id) return event;
  } catch (error) {
    throw new Fault('corrupt', `session ${id}: ${asFault(error).message}`, { cause: error });
  }
  throw new Fault('corrupt', `session ${id}: an event of another session`);
}
