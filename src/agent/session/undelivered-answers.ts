/**
 * Answers after which the agent has done nothing. If it is lost, it may not have received them: they are on disk before they are sent. The next
 * agent then gets them as a prompt, as it gets answers that come later.
 */
import type { EventType, Question, QuestionAnswer, SessionEvent } from '../../model/session.ts';

export interface UndeliveredAnswer {
  readonly question: Question;
  readonly answer: QuestionAnswer;
}

const agentEvents: readonly EventType[] = ['text', 'thought', 'tool', 'plan', 'update', 'question'];

export class UndeliveredAnswers {
  readonly #asked = new Map<string, Question>();
  #answers: UndeliveredAnswer[] = [];

  /** Of the turn under way. */
  get all(): readonly UndeliveredAnswer[] {
    return this.#answers;
  }

  take(event: SessionEvent): void {
    if (agentEvents.includes(event.type) || event.type === 'turn.ended') this.#answers = [];
    if (event.type === 'turn.ended') this.#asked.clear();
    if (event.type === 'question') this.#asked.set(event.data.pendingId, event.data);
    if (event.type === 'answer') this.#answered(event.data);
  }

  #answered(answer: QuestionAnswer): void {
    const question = this.#asked.get(answer.pendingId);
    if (question && !answer.cancelled) this.#answers.push({ question, answer });
  }
}
