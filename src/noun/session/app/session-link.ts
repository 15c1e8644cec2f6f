/**
 * The connection to the agent API of one running sandbox, which keeps the host's copy complete.
 *
 * Life cycle: `open` connects in the background: it starts the program inside if none answers with the token of this
 * sandbox, removes inside what was removed on the host, replaces logs that are shorter than the copy or differ from it
 * (S7), and follows all events. When the connection ends, the link connects again, after a wait that doubles; it stops
 * when the sandbox does not run or lacks the program, until the next `open`. Invalid data from inside ends the
 * connection and is reported (S8).
 */
import { setImmediate as breathe, setTimeout as pause } from 'node:timers/promises';
import { Backoff } from '../../../lib/flow/backoff.ts';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { asFault, Fault, isFault } from '../../../model/fault.ts';
import { list, open, whole } from '../../../model/shape.ts';
import { type AgentApi, AgentApiRefusal } from '../agent-api.ts';
import type { ParsedSseEvent } from '../event-stream.ts';
import type { SessionEvent } from '../model/session.ts';
import { sessionId } from '../model/session.ts';
import type { SessionCopies } from '../session.ts';

export interface LinkParts {
  readonly api: Pick<AgentApi, 'call' | 'restore' | 'events'>;
  readonly copies: SessionCopies;
  isRunning(): boolean;
  /** Starts the program inside, or sends the settings to the program that runs. */
  startProgram(): Promise<void>;
  /** Whether the program that gave this answer has the current settings. */
  isCurrent(health: unknown): boolean;
  /** Called when these events are on disk. */
  copied(events: readonly SessionEvent[]): void;
  report(fault: Fault): void;
  nowMs(): number;
}

const sessionsInside = list(open({ sessionId, seq: whole(0, Number.MAX_SAFE_INTEGER) }), 1000);
/** A connection that lasted at least this long does not count as a failed attempt. */
const stableMs = 10_000;
const readyMs = 60_000;
/** After so many ends the wait stays at a second, which is less than `patienceMs`. */
const mostEnds = 3;
/** A request starts a new attempt if the last failure was longer ago: the person may have removed the cause. */
const againMs = 1000;
/** A request waits at most this long for the next attempt. */
const patienceMs = 5000;

export class SessionLink {
  readonly #parts: LinkParts;
  readonly #backoff = new Backoff();
  readonly #waiting = new Set<{ resolve(): void; reject(fault: Fault): void }>();
  #ending = new AbortController();
  #running: Promise<void> | null = null;
  #connection: AbortController | null = null;
  /** Ends the wait before the next attempt. */
  #wait = new AbortController();
  /** Whether requests can be made. */
  #isConnected = false;
  /** Whether this attempt has succeeded. */
  #isFollowing = false;
  #failedMs = 0;
  /** Why the last connection ended. */
  trouble: Fault | null = null;

  constructor(parts: LinkParts) {
    this.#parts = parts;
  }

  get isOpen(): boolean {
    return this.#running !== null;
  }

  open(): void {
    if (this.#running !== null || this.#ending.signal.aborted) return;
    this.#running = this.#run().finally(() => {
      this.#running = null;
      this.#settle(this.trouble ?? new Fault('unavailable', 'the sandbox does not run'));
    });
  }

  /** Called when a request found the connection broken before the stream of events has ended. */
  renew(): void {
    this.#isConnected = false;
    this.#connection?.abort();
  }

  async close(): Promise<void> {
    this.#ending.abort();
    this.#wait.abort();
    await this.#running;
  }

  /** Resolves when logs and copies agree and events are followed. */
  connected(): Promise<void> {
    this.open();
    if (this.#isConnected) return Promise.resolve();
    // For a request, a program that was killed is started at once, and one that failed to start only after a while.
    if (this.#isFollowing || this.#parts.nowMs() - this.#failedMs > againMs) this.#wait.abort();
    else if (this.trouble && this.#backoff.waitMs(this.#parts.nowMs()) > patienceMs)
      return Promise.reject(this.trouble);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => one.reject(this.trouble ?? notReady()), readyMs);
      const settled = (act: () => void) => {
        clearTimeout(timer);
        this.#waiting.delete(one);
        act();
      };
      const one = {
        resolve: () => settled(resolve),
        reject: (fault: Fault) => settled(() => reject(fault)),
      };
      this.#waiting.add(one);
    });
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted && this.#parts.isRunning()) {
      const startedMs = this.#parts.nowMs();
      this.#isFollowing = false;
      await this.#connect().catch((error: unknown) => this.#failed(asFault(error), startedMs));
      this.#isConnected = false;
      if (lacksProgram(this.trouble)) return;
      this.#wait = new AbortController();
      const waitMs = this.#backoff.waitMs(this.#parts.nowMs());
      await pause(Math.max(1, waitMs), undefined, { signal: this.#wait.signal, ref: false }).catch(() => {});
    }
  }

  #failed(fault: Fault, startedMs: number): void {
    // Only another start of the sandbox changes that, so the link stops; the next request tries again.
    if (lacksProgram(fault)) {
      this.trouble = fault;
      return;
    }
    const nowMs = this.#parts.nowMs();
    this.#failedMs = nowMs;
    if (this.#isFollowing && nowMs - startedMs > stableMs) this.#backoff.succeeded();
    // A program that worked and ended is started again soon, however often it ends.
    this.#backoff.failed(nowMs, this.#isFollowing && fault.code === 'unavailable' ? mostEnds : undefined);
    if (this.#ending.signal.aborted || !this.#parts.isRunning()) return;
    this.trouble = named(fault);
    // One end of the program is not reported; it is started again.
    if (this.#backoff.failures > 1 || fault.code !== 'unavailable') this.#parts.report(this.trouble);
    // The end of a connection does not refuse waiting requests: the next attempt may succeed.
    if (this.#backoff.failures > 1 && !this.#isFollowing) this.#settle(this.trouble);
  }

  async #connect(): Promise<void> {
    const { api, copies } = this.#parts;
    await copies.settle();
    await this.#answering();
    await this.#removeInside();
    await this.#compare();
    const positions = Object.fromEntries(copies.list().map(({ id, fold }) => [id, fold.seq]));
    this.#connection = new AbortController();
    const { signal } = this.#connection;
    const events = await api.events(positions, AbortSignal.any([this.#ending.signal, signal]));
    this.#isConnected = true;
    this.#isFollowing = true;
    this.trouble = null;
    for (const one of [...this.#waiting]) one.resolve();
    try {
      for await (const batch of events) await this.#keep(batch);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    throw new Fault('unavailable', 'the connection to the agent API ended');
  }

  async #answering(): Promise<void> {
    const { api, startProgram } = this.#parts;
    try {
      const health = await api.call({ method: 'GET', path: '/health' });
      if (!this.#parts.isCurrent(health)) await startProgram();
    } catch (error) {
      if (!isFault(error, 'unavailable') && !isFault(error, 'unauthenticated')) throw error;
      await startProgram();
      await api.call({ method: 'GET', path: '/health' });
    }
  }

  async #removeInside(): Promise<void> {
    const { api, copies } = this.#parts;
    for (const id of copies.removed) {
      await api.call({ method: 'DELETE', path: `/sessions/${id}` }).catch((error: unknown) => {
        if (!isFault(error, 'not_found')) throw error;
      });
      await copies.forget(id);
    }
  }

  async #compare(): Promise<void> {
    const { api, copies } = this.#parts;
    const inside = sessionsInside(await api.call({ method: 'GET', path: '/sessions' }), ['sessions']);
    const lengths = new Map(inside.map(({ sessionId: id, seq }) => [id, seq]));
    for (const copy of copies.list()) {
      const { seq } = copy.fold;
      if ((lengths.get(copy.id) ?? 0) >= seq && (await this.#isSame(copy.id, seq))) continue;
      await api.restore(copy.id, copy.lines());
    }
  }

  async #isSame(id: string, seq: number): Promise<boolean> {
    const { api, copies } = this.#parts;
    const answer = await api.call({ method: 'GET', path: `/sessions/${id}/digest?seq=${seq}` });
    return (answer as { readonly digest?: unknown } | null)?.digest === (await copies.find(id)?.digest(seq));
  }

  /**
   * Events that came together become durable together. The next ones are read after that, which gives back-pressure.
   */
  async #keep(batch: readonly ParsedSseEvent[]): Promise<void> {
    const { copies } = this.#parts;
    const refusal = batch.find(({ event }) => event === 'fault');
    if (refusal) throw new Fault('unavailable', `the agent API failed: ${refusal.data.slice(0, 500)}`);
    const appends = await Promise.allSettled(batch.map(({ event, data }) => copies.append(event, data)));
    crashPoint('session.copied');
    this.#parts.copied(appends.flatMap((one) => (one.status === 'fulfilled' && one.value ? [one.value] : [])));
    const failed = appends.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    await breathe();
  }

  #settle(fault: Fault): void {
    for (const one of [...this.#waiting]) one.reject(fault);
  }
}

/** A program inside can answer with `conflict`, too, so its refusals do not count. */
function lacksProgram(fault: Fault | null): boolean {
  return fault?.code === 'conflict' && !(fault instanceof AgentApiRefusal);
}

function notReady(): Fault {
  return new Fault('timeout', 'the agent API of the sandbox does not answer');
}

/** Invalid answers of a program inside are not a fault of this installation. */
function named(fault: Fault): Fault {
  if (fault.code !== 'corrupt' && fault.code !== 'internal') return fault;
  return new Fault('unavailable', `what answers at port 3002 in the sandbox is not the agent API: ${fault.message}`, {
    cause: fault,
    hint: 'End the program that listens there, or stop and start the sandbox.',
  });
}
