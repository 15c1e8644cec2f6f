/**
 * Checks that an event may follow the earlier ones. An agent may have replaced the program that writes events, and
 * readers of the events rely on their order.
 */

import type { SessionFold } from './model/fold.ts';
import type { SessionEvent } from './model/session.ts';

export class EventOrder {
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
