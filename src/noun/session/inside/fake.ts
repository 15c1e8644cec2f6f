/** The sessions of a sandbox in memory, for tests of everything that is built on `AgentSessions`. */
import { EventEmitter } from 'node:events';
import { Fault } from '../../../model/fault.ts';
import { ulidAfter } from '../../../model/ulid.ts';
import { sessionEvent } from '../model/event.ts';
import { sessionLimits } from '../model/session.ts';
import { changed, echo, FakeSession, type Script } from './fake-session.ts';
import type { AgentSessions, LoggedEvent, NewSession } from './inside.ts';

export class FakeSessions implements AgentSessions {
  readonly #script: Script;
  readonly #all = new Map<string, FakeSession>();
  readonly #changes = new EventEmitter().setMaxListeners(0);

  constructor(script: Script = echo) {
    this.#script = script;
  }

  list(): readonly FakeSession[] {
    return [...this.#all.values()];
  }

  find(id: string): FakeSession {
    const found = this.#all.get(id);
    if (found) return found;
    throw new Fault('not_found', `there is no session ${id}`);
  }

  async create({ sessionId, agent = 'demo', title, mode, model }: NewSession): Promise<FakeSession> {
    const there = sessionId === undefined ? undefined : this.#all.get(sessionId);
    if (there) return there;
    const session = this.#add(sessionId);
    session.append('session.created', { agent, cwd: '/workspace', ...(title === undefined ? {} : { title }) });
    session.append('session.configured', {
      modes: { current: 'ask', available: ['ask', 'code'].map((id) => ({ id, name: id })) },
      models: { current: 'small', available: ['small', 'large'].map((id) => ({ id, name: id })) },
      canFork: true,
    });
    if (mode !== undefined) await session.setMode(mode);
    if (model !== undefined) await session.setModel(model);
    return session;
  }

  async fork(id: string, { sessionId, title }: { sessionId?: string | undefined; title?: string | undefined }) {
    const from = this.find(id);
    const session = this.#add(sessionId);
    const [, ...rest] = from.log;
    const { agent, cwd, seq } = from.fold;
    const named = title === undefined ? {} : { title };
    session.append('session.created', { agent, cwd, ...named, forkedFrom: { sessionId: id, seq } });
    for (const { event } of rest) session.append(event.type, event.data as never, event.turnId);
    return session;
  }

  async remove(id: string): Promise<void> {
    this.find(id).remove();
    this.#all.delete(id);
  }

  async restore(id: string, lines: AsyncIterable<string>): Promise<FakeSession> {
    const session = new FakeSession(id, this.#script, this.#changes);
    for await (const line of lines) session.take(sessionEvent(parsed(line), []), line);
    if (session.log.length === 0) throw new Fault('invalid', 'the log is empty');
    this.#all.get(id)?.remove();
    this.#put(session);
    return session;
  }

  async *followAll(after: Readonly<Record<string, number>>, signal: AbortSignal): AsyncIterable<LoggedEvent> {
    const at = new Map(Object.entries(after));
    while (!signal.aborted) {
      const behind = this.list().find(({ id, log }) => log.length > (at.get(id) ?? 0));
      if (behind === undefined) await changed(this.#changes, signal);
      else {
        const position = at.get(behind.id) ?? 0;
        at.set(behind.id, position + 1);
        yield behind.log[position]!;
      }
    }
  }

  #add(sessionId = ulidAfter([...this.#all.keys()].sort().at(-1) ?? null, Date.now())): FakeSession {
    if (this.#all.has(sessionId)) throw new Fault('conflict', `there is a session ${sessionId}`);
    if (this.#all.size >= sessionLimits.sessions)
      throw new Fault('exhausted', `a sandbox has at most ${sessionLimits.sessions} sessions`, {
        hint: 'Remove one that is not needed any more.',
      });
    return this.#put(new FakeSession(sessionId, this.#script, this.#changes));
  }

  #put(session: FakeSession): FakeSession {
    this.#all.set(session.id, session);
    this.#changes.emit('change');
    return session;
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new Fault('invalid', 'a line of the log is not JSON', { cause: error });
  }
}
