/**
 * One session. Requests of clients are decided one at a time, each by what is on disk; turns run one after the other, in the order of their prompts.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Exclusive } from '../../lib/exclusive.ts';
import { asFault, Fault } from '../../model/fault.ts';
import { type EventData, type EventType, type GivenAnswer, type Question, sessionLimits } from '../../model/session.ts';
import type { SessionFold, Turn } from '../../model/session-fold.ts';
import { clip } from '../../model/shape.ts';
import { AgentLink } from './agent-link.ts';
import { AgentLost, type Driver, type StartDriver } from './driver.ts';
import { answerPrompt, answerTurn, Questions } from './questions.ts';
import type { Answered, Asked, LoggedEvent, Session } from './session.ts';
import { SessionLog } from './session-log.ts';
import { Unwritten } from './unwritten.ts';
import { Views } from './views.ts';

/** For an agent that was asked to cancel; then its process is ended. */
const cancelGraceMs = 5000;
const retryMs = 1000;

export interface SessionParts {
  readonly start: StartDriver;
  readonly idleMs: () => number;
}

type TurnEnd = EventData['turn.ended'];

interface Running {
  readonly turnId: string;
  readonly cancelled: AbortController;
  readonly ended: Promise<void>;
}

export class LiveSession implements Session {
  readonly id: string;
  readonly #log: SessionLog;
  readonly #views: Views;
  readonly #agent: AgentLink;
  readonly #questions: Questions;
  readonly #decisions = new Exclusive();
  #running: Running | null = null;
  #loop: Promise<void> | null = null;
  readonly #unwritten = new Unwritten();
  #isDisposed = false;

  /** Of a folder that has a log, or is to have one. */
  static async open(folder: string, id: string, parts: SessionParts): Promise<LiveSession> {
    const log = await SessionLog.open(folder, id);
    const recorder = {
      record: <T extends EventType>(type: T, data: EventData[T]) => session.#record(type, data),
      ask: (question: Omit<Question, 'pendingId'>) => session.#ask(question),
    };
    const agent = await AgentLink.open({ id, folder, fold: log.fold, recorder, ...parts });
    const session: LiveSession = new LiveSession(log, new Views(id, folder, log.fold), agent);
    return session;
  }

  private constructor(log: SessionLog, views: Views, agent: AgentLink) {
    this.id = log.id;
    this.#log = log;
    this.#views = views;
    this.#agent = agent;
    this.#questions = new Questions(log);
    log.listen(() => views.touch());
  }

  get fold(): SessionFold {
    return this.#log.fold;
  }

  /** What the agent knows the session by. */
  get agent(): AgentLink {
    return this.#agent;
  }

  /** The first event of a new session. */
  async create(data: EventData['session.created']): Promise<void> {
    await this.#log.append('session.created', data);
    await this.#views.flush();
  }

  /** Ends what an earlier process left, and goes on with the prompts that wait. */
  async recover(notes: readonly string[] = []): Promise<void> {
    const all = [...notes];
    if (this.#log.cutBytes > 0) all.push(`The end of the log was damaged: ${this.#log.cutBytes} bytes were set aside.`);
    all.push(...(await this.#views.check()));
    for (const text of all) await this.#log.append('session.note', { text });
    await this.#repairAnswers();
    for (const { turnId } of this.fold.turns.filter(({ hasStarted }) => hasStarted)) {
      const reason = 'the agent API ended while the agent worked';
      await this.#repeatAnswers();
      await this.#log.append('turn.ended', { stopReason: 'interrupted', reason }, turnId);
    }
    await this.#views.flush();
    this.#go();
  }

  /** Writes the files that are made from the log. */
  flush(): Promise<void> {
    return this.#views.flush();
  }

  prompt({ turnId = randomUUID(), content, queue = false }: Asked): Promise<{ turnId: string; seq: number }> {
    return this.#decide(async () => {
      const known = this.#log.promptSeqs.get(turnId);
      if (known !== undefined) return { turnId, seq: known };
      this.#requireOpen();
      const { length } = this.fold.turns;
      if (length > 0 && !queue) throw busy(this.id);
      if (length > sessionLimits.queuedPrompts) throw full(`${length} prompts wait already`, 'Wait for some of them.');
      const bytes = Buffer.byteLength(JSON.stringify(content));
      if (bytes > sessionLimits.promptBytes) throw full(`the prompt has ${bytes} bytes`, 'Put it into a file.');
      this.#log.requireSpace();
      const seq = await this.#log.append('prompt', { content }, turnId);
      this.#go();
      return { turnId, seq };
    });
  }

  async cancel(): Promise<void> {
    const running = this.#running;
    if (!running) return;
    running.cancelled.abort();
    await running.ended;
  }

  answer(pendingId: string, answered: Answered): Promise<void> {
    return this.#decide(async () => {
      const { question, answer } = this.#questions.check(pendingId, answered);
      this.#requireOpen();
      if (this.#questions.isAwaited(pendingId) || answer.cancelled) {
        await this.#questions.close(answer, question.turnId);
        return;
      }
      // The prompt first: if the answer is lost in a crash, `recover` finds that it was given.
      const asked = this.#log.append('prompt', { content: answerPrompt(question, answer) }, answerTurn(pendingId));
      await Promise.all([asked, this.#questions.close(answer, question.turnId)]);
      this.#go();
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
    await this.cancel();
    await this.#loop;
    for (const { turnId } of this.fold.turns) await this.#end(turnId, { stopReason: 'cancelled' });
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
      if (!this.#running) this.#agent.rest();
    } catch (error) {
      await this.#log.append('session.failed', { reason: reasonOf(error) }).catch(() => {});
    }
  }

  /** Ends its processes; a running turn ends with `interrupted`. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.#agent.stop();
    await this.#loop;
    await this.#views.flush();
    await this.#log.close();
  }

  #decide<T>(decision: () => Promise<T>): Promise<T> {
    return this.#decisions.run('', decision);
  }

  #requireOpen(): void {
    if (this.fold.isClosed)
      throw new Fault('conflict', `session ${this.id} is closed`, { hint: 'Go on in a copy: carrel session fork.' });
    if (this.#isDisposed) throw new Fault('unavailable', 'the agent API is stopping');
  }

  #go(): void {
    this.#loop ??= this.#runAll();
  }

  async #runAll(): Promise<void> {
    // `#loop` is set first.
    await null;
    for (let turn = this.#next(); turn; turn = this.#next()) await this.#run(turn);
    if (!this.#isDisposed) this.#agent.rest();
    this.#loop = null;
  }

  #next(): Turn | undefined {
    return this.#isDisposed || this.fold.isClosed ? undefined : this.fold.turns[0];
  }

  #run(turn: Turn): Promise<void> {
    const cancelled = new AbortController();
    const ended = this.#runOne(turn, cancelled.signal);
    this.#running = { turnId: turn.turnId, cancelled, ended };
    return ended;
  }

  async #runOne(turn: Turn, cancelled: AbortSignal): Promise<void> {
    // `#running` is set first.
    await null;
    const end = await this.#outcome(turn, cancelled);
    if (end !== null) await this.#end(turn.turnId, cancelled.aborted ? { stopReason: 'cancelled' } : end);
    this.#running = null;
    this.#questions.forget();
    await this.#views.flush();
  }

  /** Null: it has not started, and the next agent API starts it. */
  async #outcome(turn: Turn, cancelled: AbortSignal): Promise<TurnEnd | null> {
    const isCancelled = new Promise<null>((resolve) => cancelled.addEventListener('abort', () => resolve(null)));
    let hasStarted = false;
    try {
      const driver = await Promise.race([this.#agent.driver(), isCancelled]);
      if (driver === null) return { stopReason: 'cancelled' };
      if (this.#isDisposed) return null;
      await this.#log.append('turn.started', {}, turn.turnId);
      hasStarted = true;
      if (cancelled.aborted) return { stopReason: 'cancelled' };
      cancelled.addEventListener('abort', () => void this.#cancel(driver, turn.turnId));
      const stopReason = await driver.prompt(turn.content);
      await this.#unwritten.settled();
      return { stopReason };
    } catch (error) {
      if (this.#isDisposed && !hasStarted) return null;
      if (error instanceof AgentLost && hasStarted) return { stopReason: 'interrupted', reason: reasonOf(error) };
      if (!hasStarted) await this.#log.append('session.failed', { reason: reasonOf(error) }).catch(() => {});
      return { stopReason: 'failed', reason: reasonOf(error) };
    }
  }

  async #cancel(driver: Driver, turnId: string): Promise<void> {
    driver.cancel();
    await this.#questions.cancel(turnId).catch(() => {});
    await Promise.race([this.#running?.ended, pause(cancelGraceMs, undefined, { ref: false })]);
    if (this.#running?.turnId === turnId) await driver.stop();
  }

  /** Retried until there is space on the disk: a turn never stays open. */
  async #end(turnId: string, end: TurnEnd): Promise<void> {
    for (;;) {
      try {
        // No answer is recorded meanwhile: it would reach neither this agent nor the next one.
        return await this.#decide(async () => {
          if (end.stopReason === 'interrupted') await this.#repeatAnswers();
          else await this.#questions.cancel(turnId);
          await this.#log.append('turn.ended', end, turnId);
        });
      } catch {
        if (this.#isDisposed) return;
        await pause(retryMs);
      }
    }
  }

  async #configure(what: 'modes' | 'models', id: string, set: (driver: Driver) => Promise<void>): Promise<void> {
    this.#requireOpen();
    const driver = await this.#agent.driver().catch((error: unknown) => {
      throw new Fault('unavailable', reasonOf(error));
    });
    const choice = this.fold[what];
    if (!choice?.available.some((one) => one.id === id)) {
      const hint = choice ? `It has: ${choice.available.map((one) => one.id).join(', ')}.` : `It has no ${what}.`;
      throw new Fault('invalid', `the agent has no ${what.slice(0, -1)} ${id}`, { hint });
    }
    await set(driver);
    await this.#log.append('session.configured', { [what]: { ...choice, current: id } });
    if (!this.#loop) this.#agent.rest();
  }

  #record<T extends EventType>(type: T, data: EventData[T]): Promise<void> {
    this.#log.requireSpace();
    return this.#unwritten.add(this.#log.append(type, data, this.#running?.turnId));
  }

  #ask(question: Omit<Question, 'pendingId'>): Promise<GivenAnswer> {
    const turnId = this.#running?.turnId;
    if (turnId === undefined) throw new Fault('conflict', 'no turn is under way');
    return this.#questions.ask(question, turnId);
  }

  /** Before the end of their turn, so that a crash in between repeats it. */
  async #repeatAnswers(): Promise<void> {
    this.#questions.forget();
    await this.#unwritten.settled().catch(() => {});
    for (const { question, answer } of this.#log.unheard.all) {
      const turnId = answerTurn(question.pendingId);
      if (this.fold.isClosed || this.fold.knows(turnId)) continue;
      await this.#log.append('prompt', { content: answerPrompt(question, answer) }, turnId);
    }
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

function reasonOf(error: unknown): string {
  const { message, hint } = asFault(error);
  return clip(hint ? `${message}. ${hint}` : message, 5000);
}
