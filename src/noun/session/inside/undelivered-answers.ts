/**
 * Answers after which the agent has done nothing yet. Answers are on disk before they are sent, so an agent that is
 * lost may not have received them. The next agent gets them as a prompt, like answers that come later.
 */
import type { EventType, Question, QuestionAnswer, SessionEvent } from '../model/session.ts';

export interface UndeliveredAnswer {
  readonly question: Question;
  readonly answer: QuestionAnswer;
}

const agentEvents: readonly EventType[] = ['text', 'thought', 'tool', 'plan', 'update', 'question'];

export class UndeliveredAnswers {
  readonly #asked = new Map<string, Question>();
  #answers: UndeliveredAnswer[] = [];

  /** The undelivered answers of the running turn. */
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
