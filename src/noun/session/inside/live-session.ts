/**
 * One session. Requests of clients are decided one at a time, each by what is on disk; `turns.ts` runs the turns.
 */
import { randomUUID } from 'node:crypto';
import { Exclusive } from '../../../lib/flow/exclusive.ts';
import { Fault } from '../../../model/fault.ts';
import { type EventData, type EventType, type Question, type QuestionAnswer, sessionLimits } from '../model/session.ts';
import type { SessionFold } from '../model/session-fold.ts';
import { AgentLink } from './driver/agent-link.ts';
import type { Driver, StartDriver } from './driver/driver.ts';
import type { Answered, LoggedEvent, NewPrompt, Session } from './inside.ts';
import { SessionLog } from './log/log.ts';
import { SessionViews } from './log/session-views.ts';
import { Unwritten } from './log/unwritten.ts';
import { answerPrompt, answerTurn, Questions } from './questions.ts';
import { reasonOf, Turns } from './turns.ts';

export interface SessionParts {
  readonly start: StartDriver;
  readonly idleMs: () => number;
}

export class LiveSession implements Session {
  readonly id: string;
  readonly #log: SessionLog;
  readonly #views: SessionViews;
  readonly #agent: AgentLink;
  readonly #questions: Questions;
  readonly #decisions = new Exclusive();
  readonly #turns: Turns;
  readonly #unwritten = new Unwritten();
  #isDisposed = false;

  /** Opens a folder that has a log or will get one. */
  static async open(folder: string, id: string, parts: SessionParts): Promise<LiveSession> {
    const log = await SessionLog.open(folder, id);
    const recorder = {
      record: <T extends EventType>(type: T, data: EventData[T]) => session.#record(type, data),
      ask: (question: Omit<Question, 'pendingId'>) => session.#ask(question),
    };
    const agent = await AgentLink.open({ id, folder, fold: log.fold, recorder, ...parts });
    const session: LiveSession = new LiveSession(log, new SessionViews(id, folder, log.fold), agent);
    return session;
  }

  private constructor(log: SessionLog, views: SessionViews, agent: AgentLink) {
    this.id = log.id;
    this.#log = log;
    this.#views = views;
    this.#agent = agent;
    this.#questions = new Questions(log);
    this.#turns = new Turns({
      ...{ log, agent, questions: this.#questions, unwritten: this.#unwritten },
      decide: (decision) => this.#decide(decision),
      flush: () => views.flush(),
    });
    log.listen(() => views.touch());
  }

  get fold(): SessionFold {
    return this.#log.fold;
  }

  /** The link to the agent of this session. */
  get agent(): AgentLink {
    return this.#agent;
  }

  /** Writes the first event of a new session. */
  async create(data: EventData['session.created']): Promise<void> {
    await this.#log.append('session.created', data);
    await this.#views.flush();
  }

  /** Ends turns that an earlier process left, and continues with the prompts that wait. */
  async recover(notes: readonly string[] = []): Promise<void> {
    const all = [...notes];
    if (this.#log.cutBytes > 0) all.push(`The end of the log was damaged: ${this.#log.cutBytes} bytes were set aside.`);
    all.push(...(await this.#views.check()));
    for (const text of all) await this.#log.append('session.note', { text });
    await this.#repairAnswers();
    for (const { turnId } of this.fold.turns.filter(({ hasStarted }) => hasStarted)) {
      const reason = 'the agent API ended while the agent worked';
      await this.#turns.repeatAnswers();
      await this.#log.append('turn.ended', { stopReason: 'interrupted', reason }, turnId);
    }
    await this.#views.flush();
    this.#turns.go();
  }

  /** Writes the files that are made from the log. */
  flush(): Promise<void> {
    return this.#views.flush();
  }

  prompt({ turnId = randomUUID(), content, queue = false }: NewPrompt): Promise<{ turnId: string; seq: number }> {
    return this.#decide(async () => {
      const known = this.#log.promptSeqs.get(turnId);
      if (known !== undefined) return { turnId, seq: known };
      this.#requireOpen();
      const { length } = this.fold.turns;
      if (length > 0 && !queue) throw busy(this.id);
      if (length > sessionLimits.queuedPrompts)
        throw full(
          `session ${this.id} has ${length} prompts in its queue already`,
          'Wait until some of them have ended.',
        );
      const bytes = Buffer.byteLength(JSON.stringify(content));
      if (bytes > sessionLimits.promptBytes)
        throw full(
          `the prompt has ${bytes} bytes, and the limit is ${sessionLimits.promptBytes}`,
          'Put it into a file.',
        );
      this.#log.requireSpace();
      const prompted = this.#log.append('prompt', { content }, turnId);
      // If the agent is ready, both events share a flush. If only the prompt is written, the turn writes its start.
      const isNext = length === 0 && this.#agent.isReady;
      const started = isNext ? this.#log.append('turn.started', {}, turnId).catch(() => {}) : null;
      const [seq] = await Promise.all([prompted, started]);
      this.#turns.go();
      return { turnId, seq };
    });
  }

  cancel(): Promise<void> {
    return this.#turns.cancel();
  }

  answer(pendingId: string, answered: Answered): Promise<void> {
    return this.#decide(async () => {
      const { question, answer } = this.#questions.check(pendingId, answered);
      this.#requireOpen();
      if (this.#questions.isAwaited(pendingId) || answer.cancelled) {
        await this.#questions.close(answer, question.turnId);
        return;
      }
      // The prompt is written first: if a crash loses the answer, `recover` finds that it was given.
      const written = this.#log.append('prompt', { content: answerPrompt(question, answer) }, answerTurn(pendingId));
      await Promise.all([written, this.#questions.close(answer, question.turnId)]);
      this.#turns.go();
    });
  }

  async setMode(mode: string): Promise<void> {
    await this.#configure('modes', mode, (driver) => driver.setMode(mode));
    await this.#agent.remember({ mode });
  }

  async setModel(model: string): Promise<void> {
    await this.#configure('models', model, (driver) => driver.setModel(model));
    await this.#agent.remember({ model });
  }

  rename(title: string): Promise<void> {
    return this.#decide(async () => void (await this.#log.append('session.titled', { title })));
  }

  async close(): Promise<void> {
    await this.#decide(async () => {
      if (!this.fold.isClosed) await this.#log.append('session.closed', {});
    });
    await this.#turns.finish();
    for (const { turnId } of this.fold.turns) await this.#turns.end(turnId, { stopReason: 'cancelled' });
    for (const { turnId } of this.fold.questions) await this.#questions.cancel(turnId);
    await this.#agent.stop();
  }

  follow(after: number, signal: AbortSignal): AsyncIterable<LoggedEvent> {
    return this.#log.follow(after, signal);
  }

  read(): AsyncIterable<LoggedEvent> {
    return this.#log.read();
  }

  digest(seq: number): Promise<string> {
    return this.#log.digest(seq);
  }

  /** Starts the agent before the first prompt needs it. */
  async warm(): Promise<void> {
    try {
      await this.#agent.driver();
      if (this.#turns.turnId === undefined) this.#agent.rest();
    } catch (error) {
      await this.#log.append('session.failed', { reason: reasonOf(error) }).catch(() => {});
    }
  }

  /** Ends its processes; a running turn ends with `interrupted`. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.#turns.dispose();
    await this.#views.flush();
    await this.#log.close();
  }

  #decide<T>(decision: () => Promise<T>): Promise<T> {
    return this.#decisions.run('', decision);
  }

  #requireOpen(): void {
    if (this.fold.isClosed)
      throw new Fault('conflict', `session ${this.id} is closed`, {
        hint: `Continue in a copy: carrel session fork SANDBOX --session ${this.id}`,
      });
    if (this.#isDisposed) throw new Fault('unavailable', 'the agent API is stopping');
  }

  async #configure(what: 'modes' | 'models', id: string, set: (driver: Driver) => Promise<void>): Promise<void> {
    this.#requireOpen();
    const driver = await this.#agent.driver().catch((error: unknown) => {
      throw new Fault('unavailable', reasonOf(error));
    });
    // The choices of an agent that has just started may not be in the log yet.
    await this.#unwritten.done();
    const choice = this.fold[what];
    if (!choice?.available.some((one) => one.id === id)) {
      const hint = choice ? `It has: ${choice.available.map((one) => one.id).join(', ')}.` : `It has no ${what}.`;
      throw new Fault('invalid', `the agent has no ${what.slice(0, -1)} ${id}`, { hint });
    }
    await set(driver);
    await this.#log.append('session.configured', { [what]: { ...choice, current: id } });
    if (this.#turns.isIdle) this.#agent.rest();
  }

  #record<T extends EventType>(type: T, data: EventData[T]): Promise<void> {
    this.#log.requireSpace();
    return this.#unwritten.add(this.#log.append(type, data, this.#turns.turnId));
  }

  #ask(question: Omit<Question, 'pendingId'>): Promise<QuestionAnswer> {
    const turnId = this.#turns.turnId;
    if (turnId === undefined) throw new Fault('conflict', 'an agent asks questions only during a turn');
    return this.#questions.ask(question, turnId);
  }

  async #repairAnswers(): Promise<void> {
    for (const { pendingId, turnId } of this.fold.questions) {
      if (this.fold.knows(answerTurn(pendingId))) await this.#log.append('answer', { pendingId }, turnId);
    }
  }
}

function busy(id: string): Fault {
  return new Fault('conflict', `session ${id} is busy with another prompt`, {
    hint: 'With `queue` (--queue) the prompt waits; carrel session cancel ends the turn that is under way.',
  });
}

function full(message: string, hint: string): Fault {
  return new Fault('exhausted', message, { hint });
}
