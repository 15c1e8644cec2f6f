/** The sessions of one user: reads are answered from the host's copy, everything else by the program inside, whose events are copied first. */
import type { z } from 'zod';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { Exclusive } from '../../../lib/flow/exclusive.ts';
import { Fault } from '../../../model/fault.ts';
import { ulidAfter, ulidPattern } from '../../../model/ulid.ts';
import { hasEnded, type Sandbox } from '../../sandbox/model.ts';
import type { Sandboxes } from '../../sandbox/sandbox.ts';
import type { AgentApiCall } from '../agent-api.ts';
import type * as shape from '../api.ts';
import type { SessionMessage } from '../model/session.ts';
import type { OpenQuestion } from '../model/session-fold.ts';
import { type SessionSummary, summaryOf } from '../model/view.ts';
import type { CopiedEvent, CopiedSession } from '../session.ts';
import { defaultIn, requireIn } from './agents.ts';
import type { LiveSandbox } from './live-sandbox.ts';
import type { LiveSessions } from './live-sessions.ts';
import { type LookParts, lookSoon } from './look-soon.ts';
import { type CreationParts, sandboxFor, type WantedSession } from './sandbox-and-session.ts';
import { UserTokens, type UserTokensParts } from './user-tokens.ts';

export interface UserSessionsParts extends CreationParts, UserTokensParts, LookParts {
  readonly sandboxes: CreationParts['sandboxes'] & Pick<Sandboxes, 'current' | 'seen' | 'rows' | 'start'>;
  readonly live: LiveSessions;
  /** Null: there is no working copy. */
  countChanges(sandbox: Sandbox): Promise<number | null>;
  nowMs(): number;
}

export interface ShownSession extends SessionSummary {
  readonly changedFiles?: number | null;
}

type Body<S extends z.ZodType> = z.output<S>;

interface Found {
  readonly sandbox: Sandbox;
  readonly live: LiveSandbox;
}

export class UserSessions {
  readonly #parts: UserSessionsParts;
  /** Locks by the id of the session. */
  readonly #creations = new Exclusive();
  readonly tokens: UserTokens;

  constructor(parts: UserSessionsParts) {
    this.#parts = parts;
    this.tokens = new UserTokens(parts, (name) => this.#running(name, null));
  }

  async list(name: string): Promise<SessionSummary[]> {
    const { row } = await this.#parts.sandboxes.seen(name);
    return this.#listOf(row.value);
  }

  /** The sessions of all sandboxes. */
  async all(): Promise<SessionSummary[]> {
    const found: SessionSummary[] = [];
    for (const { value } of this.#parts.sandboxes.rows())
      if (this.#parts.live.has(value)) found.push(...(await this.#listOf(value)));
    return found;
  }

  async show(name: string, id: string, withChanges: boolean): Promise<ShownSession> {
    const { sandbox, live } = await this.#found(name);
    const summary = shownIn(sandbox, live.find(id));
    return withChanges ? { ...summary, changedFiles: await this.#parts.countChanges(sandbox) } : summary;
  }

  async messages(name: string, id: string): Promise<readonly SessionMessage[]> {
    return (await this.#copy(name, id)).fold.messages;
  }

  async pending(name: string, id: string): Promise<readonly OpenQuestion[]> {
    return (await this.#copy(name, id)).fold.questions;
  }

  async follow(name: string, id: string, after: number, signal: AbortSignal): Promise<AsyncIterable<CopiedEvent>> {
    const copy = await this.#copy(name, id);
    if (after > copy.fold.seq)
      throw new Fault('invalid', `the position ${after} is after the last event, ${copy.fold.seq}`);
    return copy.follow(after, signal);
  }

  async create(name: string, { agent, ...request }: Body<typeof shape.sessionRequest>): Promise<ShownSession> {
    const { value: sandbox } = await this.#parts.sandboxes.current(name);
    const chosen = agent ?? defaultIn(sandbox);
    requireIn(sandbox, chosen, this.#parts);
    const id = request.sessionId ?? this.#newId();
    const body = { ...request, sessionId: id, agent: chosen };
    return this.#change(name, id, { method: 'POST', path: '/sessions', body }, (live) => live.copies.find(id) !== null);
  }

  /** Creates the sandbox and the session, or neither. A repeated request has the same answer. */
  createWithSandbox(request: Body<typeof shape.sandboxSessionRequest>): Promise<ShownSession> {
    const sessionId = request.sessionId ?? this.#newId();
    return this.#creations.run(sessionId, async () => {
      const { name, undo } = await sandboxFor({ ...request, sessionId }, this.#parts);
      try {
        return await this.#createIn(name, { ...request, sessionId });
      } catch (error) {
        await undo?.();
        throw error;
      }
    });
  }

  async #createIn(name: string, { agent, title, mode, model, sessionId }: WantedSession): Promise<ShownSession> {
    const { sandbox, live } = await this.#found(name);
    const copy = live.copies.find(sessionId);
    return copy ? shownIn(sandbox, copy) : this.create(name, { agent, title, mode, model, sessionId });
  }

  async prompt(
    name: string,
    id: string,
    { turnId = this.#newId(), ...prompt }: Body<typeof shape.promptRequest>,
  ): Promise<{ turnId: string; seq: number }> {
    const { sandbox, live } = await this.#running(name, id);
    crashPoint('session.prompt');
    const call: AgentApiCall = { method: 'POST', path: `/sessions/${id}/prompt`, body: { turnId, ...prompt } };
    lookSoon(sandbox, this.#parts);
    const { seq } = (await live.call(call)) as { seq?: unknown };
    crashPoint('session.prompted');
    await live.reached(id, Number(seq));
    return { turnId, seq: Number(seq) };
  }

  async answer(
    name: string,
    id: string,
    pendingId: string,
    body: Body<typeof shape.answerRequest>,
  ): Promise<ShownSession> {
    const path = `/sessions/${id}/pending/${encodeURIComponent(pendingId)}`;
    return this.#change(name, id, { method: 'POST', path, body }, (live) => isAnswered(live, id, pendingId));
  }

  cancel(name: string, id: string): Promise<ShownSession> {
    return this.#change(name, id, { method: 'POST', path: `/sessions/${id}/cancel` });
  }

  close(name: string, id: string): Promise<ShownSession> {
    return this.#change(name, id, { method: 'POST', path: `/sessions/${id}/close` });
  }

  configure(name: string, id: string, body: Body<typeof shape.configureRequest>): Promise<ShownSession> {
    return this.#change(name, id, { method: 'POST', path: `/sessions/${id}/mode`, body });
  }

  /** Forks a session and returns the new one. */
  async fork(name: string, id: string, request: Body<typeof shape.forkRequest>): Promise<ShownSession> {
    const { live, sandbox } = await this.#running(name, id);
    const forked = request.sessionId ?? this.#newId();
    const call: AgentApiCall = {
      method: 'POST',
      path: `/sessions/${id}/fork`,
      body: { ...request, sessionId: forked },
    };
    await live.call(call, () => live.copies.find(forked) !== null);
    return shownIn(sandbox, await live.caughtUp(forked));
  }

  /** A stopped sandbox removes the log inside when it runs again. */
  async remove(name: string, id: string): Promise<ShownSession> {
    const { sandbox, live } = await this.#found(name);
    const summary = shownIn(sandbox, live.find(id));
    await live.copies.remove(id);
    crashPoint('session.removed');
    if (hasEnded(sandbox.status) || !live.link.isOpen) return summary;
    await live.call({ method: 'DELETE', path: `/sessions/${id}` }).then(
      () => live.copies.forget(id),
      // The next connection tries again, ignoring.
      () => {},
    );
    return summary;
  }

  async #change(name: string, id: string, call: AgentApiCall, isDone: (live: LiveSandbox) => boolean = () => false) {
    const { sandbox, live } = await this.#running(name, call.path === '/sessions' ? null : id);
    await live.call(call, () => isDone(live));
    crashPoint('session.changed');
    return shownIn(sandbox, await live.caughtUp(id));
  }

  async #listOf(sandbox: Sandbox): Promise<SessionSummary[]> {
    if (!this.#parts.live.has(sandbox)) return [];
    const live = await this.#parts.live.of(sandbox);
    return live.copies.list().map((copy) => shownIn(sandbox, copy));
  }

  async #copy(name: string, id: string): Promise<CopiedSession> {
    return (await this.#found(name)).live.find(id);
  }

  async #found(name: string): Promise<Found> {
    const { row } = await this.#parts.sandboxes.seen(name);
    return { sandbox: row.value, live: await this.#parts.live.of(row.value) };
  }

  /** Starts a sandbox that has ended. `id`: the session, which has to exist; null: there is none yet. */
  async #running(name: string, id: string | null): Promise<Found> {
    const { sandboxes, live } = this.#parts;
    const { value: found } = await sandboxes.current(name);
    if (id !== null) (await live.of(found)).find(id);
    if (!hasEnded(found.status)) return { sandbox: found, live: await live.of(found) };
    await sandboxes.start(name);
    crashPoint('session.started');
    const { value: sandbox } = await sandboxes.current(name);
    if (hasEnded(sandbox.status)) throw endedAtOnce(sandbox);
    return { sandbox, live: await live.of(sandbox) };
  }

  #newId(): string {
    return ulidAfter(null, this.#parts.nowMs());
  }
}

/** A session that was working when its sandbox ended gets a reason that says how it goes on. */
function shownIn({ name, status }: Sandbox, { id, fold }: CopiedSession): SessionSummary {
  const summary = summaryOf(id, name, fold);
  if (summary.state !== 'working' || !hasEnded(status)) return summary;
  return { ...summary, reason: 'the sandbox does not run; the next prompt starts it and ends this turn' };
}

function isAnswered(live: LiveSandbox, id: string, pendingId: string): boolean {
  return live.copies.find(id)?.fold.answerTo(pendingId) !== null;
}

function endedAtOnce({ name, status }: Sandbox): Fault {
  return new Fault('conflict', `the sandbox ${name} ended at once: ${status.reason ?? status.state}`, {
    hint: `Its command ends by itself; a sandbox for sessions idles: carrel chat PROJECT. See: carrel logs ${name}`,
  });
}

export function positionOf(lastEventId: string | undefined, after: number | undefined): number {
  if (lastEventId === undefined || lastEventId === '') return after ?? 0;
  if (/^\d{1,15}$/.test(lastEventId)) return Number(lastEventId);
  throw new Fault('invalid', 'Last-Event-ID is not the number of an event');
}

/** Throws `not_found` for ids that no session can have. */
export function checkId(id: string): string {
  if (ulidPattern.test(id)) return id;
  throw new Fault('not_found', 'no such session', { hint: 'See: carrel session ls' });
}
