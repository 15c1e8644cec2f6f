/** Sessions in a temporary folder, with fake agents, for tests. */
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContentBlock, SessionEvent } from '../model/session.ts';
import { FakeAgents } from './driver/fake-driver.ts';
import type { LiveSession } from './live-session.ts';
import { SandboxSessions } from './sandbox-sessions.ts';

const settings = {
  tokens: [],
  agents: { demo: { kind: 'acp', command: ['demo'] }, other: { kind: 'acp', command: ['other'] } },
  defaultAgent: 'demo',
  mcpServers: [],
  sandbox: 's',
  idleAgentSeconds: 1000,
} as const;

export class TestSessions {
  folder = mkdtempSync(join(tmpdir(), 'carrel-sessions-'));
  agents = new FakeAgents();
  readonly #opened: SandboxSessions[] = [];

  async open(): Promise<SandboxSessions> {
    const { folder, agents } = this;
    const sessions = await SandboxSessions.open({
      folder,
      cwd: '/workspace',
      settings: () => settings,
      start: agents.start,
    });
    this.#opened.push(sessions);
    return sessions;
  }

  async create(): Promise<LiveSession> {
    const sessions = this.#opened.at(-1) ?? (await this.open());
    return sessions.find((await sessions.create({})).id);
  }

  /** Opens a copy of what is on disk now, as after a kill. */
  async reopen(): Promise<SandboxSessions> {
    const copy = mkdtempSync(join(tmpdir(), 'carrel-sessions-'));
    cpSync(this.folder, copy, { recursive: true, verbatimSymlinks: true });
    await this.remove();
    this.folder = copy;
    this.agents = new FakeAgents();
    return this.open();
  }

  async dispose(): Promise<void> {
    for (const sessions of this.#opened.splice(0)) await sessions.dispose();
  }

  async remove(): Promise<void> {
    await this.dispose();
    rmSync(this.folder, { recursive: true });
  }

  lines(id: string): SessionEvent[] {
    const text = readFileSync(join(this.folder, id, 'events.ndjson'), 'utf8').trim();
    return text.split('\n').map((line) => JSON.parse(line));
  }

  types(id: string): string[] {
    return this.lines(id).map(({ type }) => type);
  }
}

export function words(text: string): readonly ContentBlock[] {
  return [{ type: 'text', text }];
}

/** Resolves to the first event that matches. */
export async function until(session: LiveSession, isIt: (event: SessionEvent) => boolean): Promise<SessionEvent> {
  for await (const { event } of session.follow(0, AbortSignal.timeout(10_000))) if (isIt(event)) return event;
  throw new Error('there is no such event');
}

export function ask(session: LiveSession, text: string, queue = false): Promise<{ turnId: string; seq: number }> {
  return session.prompt({ content: words(text), queue });
}

/** Runs a turn and resolves to its end. */
export async function turn(session: LiveSession, text: string): Promise<SessionEvent> {
  const { turnId } = await ask(session, text);
  return until(session, (event) => event.type === 'turn.ended' && event.turnId === turnId);
}
