/** The turns of one session: they run one after the other, in the order of their prompts, each until its end is in the log. */
import { setTimeout as pause } from 'node:timers/promises';
import { asFault } from '../../../model/fault.ts';
import { clip } from '../../../model/shape.ts';
import { AgentLost } from '../../agent/inside/acp/peer.ts';
import type { EventData } from '../model/session.ts';
import type { Turn } from '../model/session-fold.ts';
import type { AgentLink } from './driver/agent-link.ts';
import type { Driver } from './driver/driver.ts';
import type { SessionLog } from './log/log.ts';
import type { Unwritten } from './log/unwritten.ts';
import { answerPrompt, answerTurn, type Questions } from './questions.ts';

/** Time for an agent to cancel; then its process is stopped. */
const cancelGraceMs = 5000;
const retryMs = 1000;
/** Tries of a turn whose agent ends each time before it gets the prompt. */
const maxTries = 3;

type TurnEnd = EventData['turn.ended'];

interface Running {
  readonly turnId: string;
  readonly cancelled: AbortController;
  readonly ended: Promise<void>;
}

export interface TurnsParts {
  readonly log: SessionLog;
  readonly agent: AgentLink;
  readonly questions: Questions;
  /** Events of the agent that are not on disk yet. */
  readonly unwritten: Unwritten;
  /** Runs a decision while no request of a client is decided. */
  decide<T>(decision: () => Promise<T>): Promise<T>;
  flush(): Promise<void>;
}

export class Turns {
  readonly #parts: TurnsParts;
  #running: Running | null = null;
  #loop: Promise<void> | null = null;
  #isDisposed = false;

  constructor(parts: TurnsParts) {
    this.#parts = parts;
  }

  /** Id of the running turn. */
  get turnId(): string | undefined {
    return this.#running?.turnId;
  }

  get isIdle(): boolean {
    return this.#loop === null;
  }

  /** Runs the turns that the log has. */
  go(): void {
    this.#loop ??= this.#runAll();
  }

  async cancel(): Promise<void> {
    const running = this.#running;
    if (!running) return;
    running.cancelled.abort();
    await running.ended;
  }

  /** Cancels the running turn. A closed session begins no other turn. */
  async finish(): Promise<void> {
    await this.cancel();
    await this.#loop;
  }

  /** A running turn ends with `interrupted`. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.#parts.agent.stop();
    await this.#loop;
  }

  /** Retried until there is space on the disk: a turn never stays open. */
  async end(turnId: string, end: TurnEnd): Promise<void> {
    for (;;) {
      try {
        // `decide` blocks answers meanwhile: they would reach neither this agent nor the next one.
        return await this.#parts.decide(async () => {
          if (end.stopReason === 'interrupted') await this.repeatAnswers();
          else await this.#parts.questions.cancel(turnId);
          await this.#parts.log.append('turn.ended', end, turnId);
        });
      } catch {
        if (this.#isDisposed) return;
        await pause(retryMs);
      }
    }
  }

  /** Turns undelivered answers into prompts, before the end of their turn, so that a crash in between repeats this. */
  async repeatAnswers(): Promise<void> {
    const { log, questions, unwritten } = this.#parts;
    questions.forget();
    await unwritten.settled().catch(() => {});
    for (const { question, answer } of log.undelivered.all) {
      const turnId = answerTurn(question.pendingId);
      if (log.fold.isClosed || log.fold.knows(turnId)) continue;
      await log.append('prompt', { content: answerPrompt(question, answer) }, turnId);
    }
  }

  async #runAll(): Promise<void> {
    // `#loop` is set first.
    await null;
    for (let turn = this.#next(); turn; turn = this.#next()) await this.#run(turn);
    if (!this.#isDisposed) this.#parts.agent.rest();
    this.#loop = null;
  }

  #next(): Turn | undefined {
    const { fold } = this.#parts.log;
    return this.#isDisposed || fold.isClosed ? undefined : fold.turns[0];
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
    if (end !== null) await this.end(turn.turnId, cancelled.aborted ? { stopReason: 'cancelled' } : end);
    this.#running = null;
    this.#parts.questions.forget();
    // The next turn does not wait for the views.
    void this.#parts.flush();
  }

  /** Null: the agent did not get the prompt. The next agent API starts the turn, or ends it if it had started. */
  async #outcome(turn: Turn, cancelled: AbortSignal): Promise<TurnEnd | null> {
    const start = { hasStarted: turn.hasStarted };
    try {
      for (let tries = 1; ; tries += 1) {
        const end = await this.#attempt(turn, cancelled, start).catch((error: unknown) => {
          // The agent ended while it was idle and did not get the prompt, so the turn is tried again.
          if (error instanceof AgentLost && error.isUnsent && tries < maxTries && !this.#isDisposed) return undefined;
          throw error;
        });
        if (end !== undefined) return end;
      }
    } catch (error) {
      return this.#failure(error, start.hasStarted);
    }
  }

  async #attempt(turn: Turn, cancelled: AbortSignal, start: { hasStarted: boolean }): Promise<TurnEnd | null> {
    const { agent, log, unwritten } = this.#parts;
    const isCancelled = new Promise<null>((resolve) => cancelled.addEventListener('abort', () => resolve(null)));
    const driver = cancelled.aborted ? null : await Promise.race([agent.driver(), isCancelled]);
    if (driver === null) return { stopReason: 'cancelled' };
    if (this.#isDisposed) return null;
    if (!start.hasStarted) await log.append('turn.started', {}, turn.turnId);
    start.hasStarted = true;
    if (cancelled.aborted) return { stopReason: 'cancelled' };
    cancelled.addEventListener('abort', () => void this.#cancelIn(driver, turn.turnId));
    const stopReason = await driver.prompt(turn.content);
    await unwritten.settled();
    return { stopReason };
  }

  async #failure(error: unknown, hasStarted: boolean): Promise<TurnEnd | null> {
    const reason = reasonOf(error);
    if (this.#isDisposed && !hasStarted) return null;
    if (error instanceof AgentLost && hasStarted) return { stopReason: 'interrupted', reason };
    if (!hasStarted) await this.#parts.log.append('session.failed', { reason }).catch(() => {});
    return { stopReason: 'failed', reason };
  }

  async #cancelIn(driver: Driver, turnId: string): Promise<void> {
    driver.cancel();
    await this.#parts.questions.cancel(turnId).catch(() => {});
    await Promise.race([this.#running?.ended, pause(cancelGraceMs, undefined, { ref: false })]);
    if (this.#running?.turnId === turnId) await driver.stop();
  }
}

export function reasonOf(error: unknown): string {
  const { message, hint } = asFault(error);
  return clip(hint ? `${message}. ${hint}` : message, 5000);
}
