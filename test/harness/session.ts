/** Sessions through the daemon, used by a client that repeats lost requests. */
import { randomUUID } from 'node:crypto';
import { isFault } from '../../src/model/fault.ts';
import { ulidAfter } from '../../src/model/ulid.ts';
import type { SessionMessageView, SessionView } from '../../src/noun/session/api.ts';
import type { SessionEvent } from '../../src/noun/session/model/session.ts';
import type { SessionFold } from '../../src/noun/session/model/session-fold.ts';
import { type Installation, until } from './installation.ts';

export class Talk {
  readonly #carrel: Installation;
  readonly sandbox: string;
  readonly id: string;

  constructor(carrel: Installation, { sandbox, sessionId }: Pick<SessionView, 'sandbox' | 'sessionId'>) {
    this.#carrel = carrel;
    this.sandbox = sandbox;
    this.id = sessionId;
  }

  /** Creates a session in an existing sandbox. */
  static async in(carrel: Installation, sandbox: string, agent = 'demo'): Promise<Talk> {
    const body = { agent, sessionId: ulidAfter(null, Date.now()) };
    const path = { name: sandbox };
    return new Talk(
      carrel,
      await again(carrel, () => carrel.client.call('POST /v1/sandboxes/{name}/sessions', { path, body })),
    );
  }

  get path(): { readonly name: string; readonly id: string } {
    return { name: this.sandbox, id: this.id };
  }

  show(): Promise<SessionView> {
    return this.#again(() => this.#carrel.client.call('GET /v1/sandboxes/{name}/sessions/{id}', { path: this.path }));
  }

  messages(): Promise<SessionMessageView[]> {
    const { path } = this;
    return this.#again(() => this.#carrel.client.call('GET /v1/sandboxes/{name}/sessions/{id}/messages', { path }));
  }

  async prompt(text: string, turnId: string = randomUUID(), more: { queue?: boolean } = {}): Promise<string> {
    const input = { path: this.path, body: { text, turnId, ...more } };
    await this.#again(() => this.#carrel.client.call('POST /v1/sandboxes/{name}/sessions/{id}/prompt', input));
    return turnId;
  }

  /** Sends a prompt and waits until the turn has ended. */
  async say(text: string): Promise<string> {
    const turnId = await this.prompt(text);
    await this.until('idle');
    return turnId;
  }

  async until(state: SessionView['state']): Promise<SessionView> {
    let seen = await this.show();
    await until(async () => {
      seen = await this.show();
      return seen.state === state;
    }, `the session to be ${state}`);
    return seen;
  }

  answer(pid: string, optionId: string): Promise<SessionView> {
    const input = { path: { ...this.path, pid }, body: { optionId } };
    return this.#again(() => this.#carrel.client.call('POST /v1/sandboxes/{name}/sessions/{id}/pending/{pid}', input));
  }

  follow(after: number, signal: AbortSignal): AsyncGenerator<SessionEvent> {
    const input = { path: this.path, query: { after }, signal };
    return this.#carrel.client.sent<SessionEvent>('GET /v1/sandboxes/{name}/sessions/{id}/events', input);
  }

  /** All events until the last one that the daemon has now. */
  async events(after = 0): Promise<SessionEvent[]> {
    const { seq } = await this.show();
    const events: SessionEvent[] = [];
    if (seq <= after) return events;
    const stop = new AbortController();
    for await (const event of this.follow(after, stop.signal)) {
      events.push(event);
      if (event.seq >= seq) break;
    }
    stop.abort();
    return events;
  }

  /** The events of the log inside the sandbox. */
  async inside(): Promise<SessionEvent[]> {
    const text = await this.#carrel.ok('exec', this.sandbox, '--', 'cat', `/.data/sessions/${this.id}/events.ndjson`);
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as SessionEvent);
  }

  #again<T>(act: () => Promise<T>): Promise<T> {
    return again(this.#carrel, act);
  }
}

/** Repeats a request that a dying daemon did not answer; another daemon is started. */
export async function again<T>(carrel: Installation, act: () => Promise<T>, times = 5): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (times === 0 || !isFault(error, 'unavailable')) throw error;
    await carrel.list().catch(() => {});
    return again(carrel, act, times - 1);
  }
}

/**
 * True: no more events come by themselves, because no turn is under way, or it waits for a person. Prompts in the queue
 * may have come after its question.
 */
export function isQuiet({ turns: [turn], questions }: Pick<SessionFold, 'turns' | 'questions'>): boolean {
  return turn === undefined || questions.some(({ turnId }) => turnId === turn.turnId);
}

/** Returns gaps and repetitions of events, and prompts, beginnings and ends that occur twice for a turn. */
export function problemsOf(events: readonly SessionEvent[]): string[] {
  const problems = events.flatMap(({ seq }, index) => (seq === index + 1 ? [] : [`event ${seq} at ${index + 1}`]));
  for (const type of ['prompt', 'turn.started', 'turn.ended'] as const) {
    const turns = events.filter((event) => event.type === type).map(({ turnId }) => turnId);
    if (new Set(turns).size !== turns.length) problems.push(`${type} twice for a turn`);
  }
  return problems;
}
