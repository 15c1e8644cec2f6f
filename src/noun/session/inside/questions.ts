/** Questions of an agent that wait for a person. */
import { randomUUID } from 'node:crypto';
import { Fault } from '../../../model/fault.ts';
import type { ContentBlock, Question, QuestionAnswer } from '../model/session.ts';
import type { OpenQuestion } from '../model/session-fold.ts';
import type { Answered } from './inside.ts';
import type { SessionLog } from './log/log.ts';

const maxOpen = 100;

export class Questions {
  readonly #log: SessionLog;
  readonly #waiting = new Map<string, (answer: QuestionAnswer) => void>();
  /** Questions whose answers are being written. */
  readonly #closing = new Set<string>();

  constructor(log: SessionLog) {
    this.#log = log;
  }

  async ask(question: Omit<Question, 'pendingId'>, turnId: string): Promise<QuestionAnswer> {
    if (this.#waiting.size >= maxOpen)
      throw new Fault('exhausted', `session ${this.#log.id} has ${maxOpen} open questions already`);
    const pendingId = randomUUID();
    const answered = new Promise<QuestionAnswer>((resolve) => this.#waiting.set(pendingId, resolve));
    try {
      await this.#log.append('question', { pendingId, ...question }, turnId);
      return await answered;
    } finally {
      this.#waiting.delete(pendingId);
    }
  }

  /** The open question, and the answer as the log has it; a fault if it cannot be answered like that. */
  check(pendingId: string, answered: Answered): { readonly question: OpenQuestion; readonly answer: QuestionAnswer } {
    const { fold } = this.#log;
    const question = fold.questions.find((one) => one.pendingId === pendingId);
    if (fold.answerTo(pendingId) || this.#closing.has(pendingId)) {
      throw new Fault('conflict', `question ${pendingId} is answered already`);
    }
    if (!question) throw new Fault('not_found', `session ${this.#log.id} has no question ${pendingId}`);
    return { question, answer: { pendingId, ...checkAnswer(question, answered) } };
  }

  /** Records the answer, and passes it to the agent if it waits. If several answers race, the first one counts. */
  async close(answer: QuestionAnswer, turnId: string): Promise<void> {
    const { pendingId } = answer;
    if (this.#closing.has(pendingId)) return;
    this.#closing.add(pendingId);
    try {
      await this.#log.append('answer', answer, turnId);
      this.#waiting.get(pendingId)?.(answer);
    } finally {
      this.#closing.delete(pendingId);
    }
  }

  isAwaited(pendingId: string): boolean {
    return this.#waiting.has(pendingId);
  }

  /** Drops the waits of an agent that does not wait any more. */
  forget(): void {
    this.#waiting.clear();
  }

  /** Ends the open questions of a turn. */
  async cancel(turnId: string): Promise<void> {
    const open = this.#log.fold.questions.filter((one) => one.turnId === turnId);
    await Promise.all(open.map(({ pendingId }) => this.close({ pendingId, cancelled: true }, turnId)));
  }
}

function checkAnswer(question: Question, { optionId, content, cancel }: Answered): Omit<QuestionAnswer, 'pendingId'> {
  if ([optionId, content, cancel || undefined].filter((one) => one !== undefined).length !== 1) {
    throw new Fault('invalid', 'an answer has one of optionId, content and cancel');
  }
  if (cancel) return { cancelled: true };
  if (content !== undefined) {
    if (question.options) throw new Fault('invalid', `the answer is an optionId, one of ${idsOf(question)}`);
    return { content };
  }
  if (!question.options?.some(({ id }) => id === optionId)) {
    throw new Fault('invalid', `the question has no option ${optionId}`, {
      hint: `It has: ${idsOf(question) || 'none'}.`,
    });
  }
  return { optionId: optionId! };
}

function idsOf({ options = [] }: Question): string {
  return options.map(({ id }) => id).join(', ');
}

/** The turn in which an agent that was started again learns the answer. */
export function answerTurn(pendingId: string): string {
  return `answer-${pendingId}`;
}

/** Question and answer, for an agent that was started again. */
export function answerPrompt(question: Question, answer: QuestionAnswer): readonly ContentBlock[] {
  const option = question.options?.find(({ id }) => id === answer.optionId);
  const answerText = option?.name ?? JSON.stringify(answer.content);
  const text = `You asked before you were interrupted: ${question.title}\nThe answer is: ${answerText}\nGo on from there.`;
  return [{ type: 'text', text }];
}
