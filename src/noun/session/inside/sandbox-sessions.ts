/** The sessions of a sandbox: a folder for each, and a link to the newest. */
import { mkdir, readdir, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Exclusive } from '../../../lib/flow/exclusive.ts';
import { Fault } from '../../../model/fault.ts';
import { ulidAfter, ulidPattern } from '../../../model/ulid.ts';
import { sessionLimits } from '../model/session.ts';
import type { ApiSettings } from '../model/settings.ts';
import { recordFile } from './driver/agent-link.ts';
import type { AgentRecord, StartDriver } from './driver/driver.ts';
import type { AgentSessions, LoggedEvent, NewSession, Session } from './inside.ts';
import { LiveSession } from './live-session.ts';
import { logFile } from './log/log.ts';
import { forkedLines, writeLog } from './log/replaced-log.ts';
import { replace } from './log/session-views.ts';
import { mergeFollowed } from './merge.ts';

export interface SessionsOptions {
  readonly folder: string;
  /** The working folder of agents. */
  readonly cwd: string;
  readonly settings: () => ApiSettings;
  readonly start: StartDriver;
}

const newestLink = 'newest';

export class SandboxSessions implements AgentSessions {
  readonly #options: SessionsOptions;
  readonly #sessions = new Map<string, LiveSession>();
  readonly #changes = new Exclusive();
  readonly #listeners = new Set<(session: LiveSession) => void>();

  /** Reads all logs, ends turns that an earlier process left, and goes on with prompts that wait. */
  static async open(options: SessionsOptions): Promise<SandboxSessions> {
    const sessions = new SandboxSessions(options);
    await mkdir(options.folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(options.folder)) await sessions.#load(name);
    await sessions.#linkNewest();
    return sessions;
  }

  private constructor(options: SessionsOptions) {
    this.#options = options;
  }

  list(): readonly Session[] {
    return [...this.#sessions.values()].sort(byAge);
  }

  find(id: string): LiveSession {
    const session = this.#sessions.get(id);
    if (!session) throw new Fault('not_found', `there is no session ${id}`);
    return session;
  }

  create({ sessionId, agent, title, mode, model }: NewSession): Promise<Session> {
    return this.#change(async () => {
      const existing = sessionId && this.#sessions.get(sessionId);
      if (existing) return existing;
      const { agents, defaultAgent } = this.#options.settings();
      const name = agent ?? defaultAgent;
      if (!Object.hasOwn(agents, name)) throw unknownAgent(name, agents);
      const session = await this.#new(sessionId);
      if (mode ?? model) await session.agent.remember({ ...(mode ? { mode } : {}), ...(model ? { model } : {}) });
      await session.create({ agent: name, cwd: this.#options.cwd, ...(title ? { title } : {}) });
      await this.#publish(session);
      void session.warm();
      return session;
    });
  }

  fork(id: string, request: { readonly sessionId?: string | undefined; readonly title?: string | undefined }) {
    return this.#change(async (): Promise<Session> => {
      const existing = request.sessionId && this.#sessions.get(request.sessionId);
      if (existing) return existing;
      const source = this.find(id);
      const newId = this.#newId(request.sessionId);
      const folder = this.#temporary(newId);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeLog(join(folder, logFile), newId, forkedLines(source, newId, request.title));
      await replace(join(folder, recordFile), JSON.stringify(forkedRecord(source.agent.known)));
      await rename(folder, this.#folder(newId));
      const session = await this.#open(newId);
      await session.flush();
      await this.#publish(session);
      return session;
    });
  }

  remove(id: string): Promise<void> {
    return this.#change(async () => {
      await this.#dispose(this.find(id));
      await rename(this.#folder(id), this.#temporary(id));
      await this.#linkNewest();
      await rm(this.#temporary(id), { recursive: true, force: true });
    });
  }

  restore(id: string, lines: AsyncIterable<string>): Promise<Session> {
    return this.#change(async () => {
      const old = this.#sessions.get(id);
      if (!old) this.#newId(id);
      const temporary = join(this.#options.folder, `.${id}.restored`);
      await writeLog(temporary, id, lines);
      if (old) await this.#dispose(old);
      await mkdir(this.#folder(id), { recursive: true, mode: 0o700 });
      const log = join(this.#folder(id), logFile);
      const aside = `damaged-${logFile}-${Date.now()}`;
      if (old) await rename(log, join(this.#folder(id), aside));
      await rename(temporary, log);
      const session = await this.#open(id);
      const was = old ? `The log differed from the host's copy: it is now ${aside}, and` : 'The log was missing and';
      await session.recover([`${was} was replaced by the copy.`]);
      await this.#publish(session);
      return session;
    });
  }

  followAll(after: Readonly<Record<string, number>>, signal: AbortSignal): AsyncIterable<LoggedEvent> {
    return mergeFollowed(signal, (add) => {
      const seen = new Map(Object.entries(after));
      const listener = (session: LiveSession) => add(followed(session, seen, signal));
      for (const session of this.#sessions.values()) listener(session);
      this.#listeners.add(listener);
      return () => this.#listeners.delete(listener);
    });
  }

  /** Ends all agents. */
  async dispose(): Promise<void> {
    await this.#change(() => Promise.all([...this.#sessions.values()].map((session) => this.#dispose(session))));
  }

  #change<T>(change: () => Promise<T>): Promise<T> {
    return this.#changes.run('', change);
  }

  #folder(id: string): string {
    return join(this.#options.folder, id);
  }

  /** Path of a folder that is being created or removed; the next start removes it. */
  #temporary(id: string): string {
    return join(this.#options.folder, `.${id}`);
  }

  async #load(name: string): Promise<void> {
    if (/^\.[0-9A-Z]{26}/.test(name)) await rm(join(this.#options.folder, name), { recursive: true, force: true });
    if (!ulidPattern.test(name)) return;
    const session = await this.#open(name);
    if (session.fold.seq === 0) {
      await session.dispose();
      await rename(this.#folder(name), join(this.#options.folder, `damaged-${name}-${Date.now()}`));
      return;
    }
    await session.recover();
    this.#sessions.set(name, session);
  }

  #newId(wanted?: string): string {
    if (this.#sessions.size >= sessionLimits.sessions) {
      const hint = 'Remove some of them: carrel session rm SANDBOX --session ID';
      throw new Fault('exhausted', `the sandbox has ${sessionLimits.sessions} sessions already`, { hint });
    }
    return wanted ?? ulidAfter(null, Date.now());
  }

  async #new(wanted?: string): Promise<LiveSession> {
    return this.#open(this.#newId(wanted));
  }

  #open(id: string): Promise<LiveSession> {
    const { start, settings } = this.#options;
    return LiveSession.open(this.#folder(id), id, { start, idleMs: () => settings().idleAgentSeconds * 1000 });
  }

  async #publish(session: LiveSession): Promise<void> {
    this.#sessions.set(session.id, session);
    await this.#linkNewest();
    for (const listener of this.#listeners) listener(session);
  }

  async #dispose(session: LiveSession): Promise<void> {
    this.#sessions.delete(session.id);
    await session.dispose();
  }

  async #linkNewest(): Promise<void> {
    const newest = [...this.#sessions.values()].sort(byAge).at(-1);
    const link = join(this.#options.folder, newestLink);
    if (!newest) return rm(link, { force: true });
    await rm(`${link}.tmp`, { force: true });
    await symlink(newest.id, `${link}.tmp`);
    await rename(`${link}.tmp`, link);
  }
}

function forkedRecord({ agentSessionId, mode, model }: AgentRecord): AgentRecord {
  return {
    ...(agentSessionId === undefined ? {} : { forkOf: agentSessionId }),
    ...(mode === undefined ? {} : { mode }),
    ...(model === undefined ? {} : { model }),
  };
}

/** Events after those that were passed on already, even if the log was replaced meanwhile. */
async function* followed(session: LiveSession, seen: Map<string, number>, signal: AbortSignal) {
  for await (const one of session.follow(seen.get(session.id) ?? 0, signal)) {
    seen.set(session.id, one.event.seq);
    yield one;
  }
}

function byAge(a: Session, b: Session): number {
  return a.fold.createdAt.localeCompare(b.fold.createdAt) || a.id.localeCompare(b.id);
}

function unknownAgent(name: string, agents: Readonly<Record<string, unknown>>): Fault {
  return new Fault('invalid', `there is no agent ${name}`, { hint: `There are: ${Object.keys(agents).join(', ')}.` });
}
