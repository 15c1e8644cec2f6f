/** A session in memory, whose agent is a function. */
import { createHash, randomUUID } from 'node:crypto';
import { type EventEmitter, once } from 'node:events';
import { Fault } from '../../../model/fault.ts';
import type { EventData, EventType, Question, QuestionAnswer, SessionEvent, StopReason } from '../model/session.ts';
import { SessionFold, type Turn } from '../model/session-fold.ts';
import type { Answered, LoggedEvent, NewPrompt, Session } from './inside.ts';

/** What a scripted agent can do in a turn. */
export interface FakeTurn {
  readonly turnId: string;
  readonly text: string;
  readonly signal: AbortSignal;
  say<T extends EventType>(type: T, data: EventData[T]): void;
  ask(question: Omit<Question, 'pendingId'> & { pendingId?: string }): Promise<QuestionAnswer>;
}

export type Script = (turn: FakeTurn) => Promise<StopReason>;

/** Answers with the text of the prompt. */
export const echo: Script = async ({ text, say }) => {
  say('text', { text });
  return 'end_turn';
};

export class FakeSession implements Session {
  readonly id: string;
  readonly fold = new SessionFold();
  readonly log: LoggedEvent[] = [];
  readonly #script: Script;
  readonly #changes: EventEmitter;
  #running: { readonly abort: AbortController; readonly ended: Promise<void> } | null = null;
  #isRemoved = false;

  /** `changes` is shared by all sessions; it emits `change`. */
  constructor(id: string, script: Script, changes: EventEmitter) {
    this.id = id;
    this.#changes = changes;
    this.#script = script;
  }

  append<T extends EventType>(type: T, data: EventData[T], turnId?: string): number {
    const at = new Date().toISOString();
    const common = { seq: this.log.length + 1, at, sessionId: this.id };
    const event = { ...common, ...(turnId === undefined ? {} : { turnId }), type, data } as unknown as SessionEvent;
    this.take(event, JSON.stringify(event));
    return event.seq;
  }

  take(event: SessionEvent, line: string): void {
    this.log.push({ event, line });
    this.fold.take(event);
    this.#changes.emit('change');
  }

  remove(): void {
    this.#isRemoved = true;
    this.#running?.abort.abort();
    this.#changes.emit('change');
  }

  async prompt({ turnId = randomUUID(), content, queue = false }: NewPrompt): Promise<{ turnId: string; seq: number }> {
    const earlier = this.log.find(({ event }) => event.type === 'prompt' && event.turnId === turnId);
    if (earlier) return { turnId, seq: earlier.event.seq };
    if (this.fold.isClosed) throw new Fault('conflict', `the session ${this.id} is closed`);
    if (this.fold.turns.length > 0 && !queue)
      throw new Fault('conflict', `the session ${this.id} is busy`, { hint: 'Set queue to wait for its turn.' });
    const seq = this.append('prompt', { content }, turnId);
    this.#next();
    return { turnId, seq };
  }

  async cancel(): Promise<void> {
    this.#running?.abort.abort();
    await this.#running?.ended;
  }

  async answer(pendingId: string, { cancel, ...answered }: Answered): Promise<void> {
    if (this.fold.answerTo(pendingId) !== null) throw new Fault('conflict', `${pendingId} is answered already`);
    const question = this.fold.questions.find((one) => one.pendingId === pendingId);
    if (question === undefined) throw new Fault('not_found', `there is no question ${pendingId}`);
    const { optionId } = answered;
    if (optionId !== undefined && !question.options?.some(({ id }) => id === optionId))
      throw new Fault('invalid', `the question ${pendingId} has no option ${optionId}`);
    this.append('answer', { pendingId, ...stated(answered), ...(cancel ? { cancelled: true } : {}) }, question.turnId);
  }

  async setMode(mode: string): Promise<void> {
    const { modes } = this.fold;
    if (!modes?.available.some(({ id }) => id === mode)) throw new Fault('invalid', `there is no mode ${mode}`);
    this.append('session.configured', { modes: { ...modes, current: mode } });
  }

  async setModel(model: string): Promise<void> {
    const { models } = this.fold;
    if (!models?.available.some(({ id }) => id === model)) throw new Fault('invalid', `there is no model ${model}`);
    this.append('session.configured', { models: { ...models, current: model } });
  }

  async rename(title: string): Promise<void> {
    this.append('session.titled', { title });
  }

  async close(): Promise<void> {
    await this.cancel();
    if (!this.fold.isClosed) this.append('session.closed', {});
  }

  async *follow(after: number, signal: AbortSignal): AsyncIterable<LoggedEvent> {
    for (let at = after; ; ) {
      while (at < this.log.length && !signal.aborted) yield this.log[at++]!;
      if (signal.aborted || this.#isRemoved) return;
      await changed(this.#changes, signal);
    }
  }

  async digest(seq: number): Promise<string> {
    const next = (before: string, { line }: LoggedEvent) =>
      createHash('sha256')
        .update(before + line)
        .digest('hex');
    return this.log.slice(0, seq).reduce(next, '');
  }

  #next(): void {
    const turn = this.fold.turns[0];
    if (this.#running !== null || turn === undefined) return;
    const abort = new AbortController();
    this.#running = { abort, ended: this.#run(turn, abort.signal) };
  }

  async #run({ turnId, content }: Turn, signal: AbortSignal): Promise<void> {
    // The turn starts after the answer to the prompt, as with an agent in another process.
    await new Promise(setImmediate);
    this.append('turn.started', {}, turnId);
    const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    const say: FakeTurn['say'] = (type, data) => void this.append(type, data, turnId);
    const ask: FakeTurn['ask'] = (question) => this.#ask({ pendingId: randomUUID(), ...question }, turnId, signal);
    const cancelled = once(signal, 'abort').then(() => 'cancelled' as const);
    const result = await Promise.race([this.#script({ turnId, text, signal, say, ask }), cancelled]).catch(String);
    for (const { pendingId } of this.fold.questions) this.append('answer', { pendingId, cancelled: true }, turnId);
    const stopReason = signal.aborted ? 'cancelled' : (result as StopReason);
    this.append('turn.ended', { stopReason }, turnId);
    this.#running = null;
    this.#next();
  }

  async #ask(question: Question, turnId: string, signal: AbortSignal): Promise<QuestionAnswer> {
    this.append('question', question, turnId);
    while (!signal.aborted) {
      const answer = this.fold.answerTo(question.pendingId);
      if (answer !== null) return answer;
      await changed(this.#changes, signal);
    }
    return { pendingId: question.pendingId, cancelled: true };
  }
}

/** Resolves at the next event, and when the signal is aborted. */
export async function changed(changes: EventEmitter, signal: AbortSignal): Promise<void> {
  await once(changes, 'change', { signal }).catch(() => {});
}

function stated(answered: Omit<Answered, 'cancel'>): Omit<QuestionAnswer, 'pendingId'> {
  const { optionId, content } = answered;
  return { ...(optionId === undefined ? {} : { optionId }), ...(content === undefined ? {} : { content }) };
}
