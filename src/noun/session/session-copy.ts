/** The copy of one session. */

import { type DurableEntry, DurableLog } from '../../lib/data/durable-log.ts';
import { parseBounded } from '../../lib/wire/bounded-json.ts';
import { asFault, Fault } from '../../model/fault.ts';
import { sessionEvent } from './model/event.ts';
import { type SessionEvent, sessionLimits } from './model/session.ts';
import { SessionFold } from './model/session-fold.ts';
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

/**
 * Checks that an event may follow the earlier ones. An agent may have replaced the program that writes events, and
 * readers of the events rely on their order.
 */
class EventOrder {
  readonly #fold: SessionFold;
  /** Includes turns of events that are not durable yet, so not in the fold. */
  readonly #openTurns: Set<string>;
  readonly #newTurns = new Set<string>();
  readonly #questions: Set<string>;
  readonly #answered = new Set<string>();
  #seq: number;

  constructor(fold: SessionFold) {
    this.#fold = fold;
    this.#seq = fold.seq;
    this.#openTurns = new Set(fold.turns.map(({ turnId }) => turnId));
    this.#questions = new Set(fold.questions.map(({ pendingId }) => pendingId));
  }

  /** Accepts the event (null), or returns why it does not fit. */
  take(event: SessionEvent): string | null {
    if (event.seq !== this.#seq + 1) return `event ${event.seq} where ${this.#seq + 1} is next`;
    if ((event.type === 'session.created') !== (event.seq === 1)) return `${event.type} as event ${event.seq}`;
    const problem = this.#check(event);
    if (problem === null) this.#seq += 1;
    return problem;
  }

  #check(event: SessionEvent): string | null {
    const { turnId = '' } = event;
    switch (event.type) {
      case 'prompt':
        return this.#begin(turnId);
      case 'turn.started':
        return this.#openTurns.has(turnId) ? null : `a start of the turn "${turnId}", which is not open`;
      case 'turn.ended':
        return this.#openTurns.delete(turnId) ? null : `an end of the turn "${turnId}", which is not open`;
      case 'question':
        return this.#ask(event.data.pendingId, turnId);
      case 'answer':
        return this.#answer(event.data.pendingId);
      default:
        return null;
    }
  }

  #begin(turnId: string): string | null {
    if (turnId === '') return 'a prompt without a turn';
    if (this.#newTurns.has(turnId) || this.#fold.knows(turnId)) return `a second prompt of the turn "${turnId}"`;
    this.#newTurns.add(turnId);
    this.#openTurns.add(turnId);
    return null;
  }

  #ask(pendingId: string, turnId: string): string | null {
    if (turnId === '') return 'a question without a turn';
    const isKnown = this.#questions.has(pendingId) || this.#answered.has(pendingId);
    if (isKnown || this.#fold.answerTo(pendingId) !== null) return `a second question "${pendingId}"`;
    this.#questions.add(pendingId);
    return null;
  }

  #answer(pendingId: string): string | null {
    if (!this.#questions.delete(pendingId)) return `an answer to "${pendingId}", which is not open`;
    this.#answered.add(pendingId);
    return null;
  }
}
