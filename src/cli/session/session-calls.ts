/** The routes about sessions. A prompt and a new session have ids of the client, so both are sent again when the daemon went away before it answered. */
import { randomUUID } from 'node:crypto';
import type { Client } from '../../api/client.ts';
import type { SessionMessageView, SessionView } from '../../api/session.ts';
import { isFault } from '../../model/fault.ts';
import type { SessionEvent } from '../../model/session.ts';
import { ulidAfter } from '../../model/ulid.ts';
import { counted } from '../output/count.ts';

export interface Place {
  readonly sandbox: string;
  readonly id: string;
}

export interface AnswerBody {
  readonly optionId?: string;
  readonly content?: Readonly<Record<string, unknown>>;
  readonly cancel?: boolean;
}

const maxAgain = 3;

export class SessionCalls {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  all(): Promise<readonly SessionView[]> {
    return this.#call('GET /v1/sessions');
  }

  of(sandbox: string): Promise<readonly SessionView[]> {
    return this.#call('GET /v1/sandboxes/{name}/sessions', { path: { name: sandbox } });
  }

  show(place: Place): Promise<SessionView> {
    return this.#at('GET', place);
  }

  messages(place: Place): Promise<readonly SessionMessageView[]> {
    return this.#at('GET', place, '/messages');
  }

  create(sandbox: string, asked: { readonly agent?: string | undefined }): Promise<SessionView> {
    const body = { sessionId: ulidAfter(null, Date.now()), ...asked };
    return again(() => this.#call('POST /v1/sandboxes/{name}/sessions', { path: { name: sandbox }, body }));
  }

  /** In a new sandbox. */
  createFor(project: string, asked: { readonly agent?: string | undefined }): Promise<SessionView> {
    return this.#call('POST /v1/sessions', { body: { project, ...asked } });
  }

  prompt(place: Place, text: string, queue: boolean): Promise<{ readonly turnId: string; readonly seq: number }> {
    const body = { turnId: randomUUID(), text, queue };
    return again(() => this.#at('POST', place, '/prompt', body));
  }

  answer(place: Place, pendingId: string, body: AnswerBody): Promise<unknown> {
    const path = { name: place.sandbox, id: place.id, pid: pendingId };
    return this.#call('POST /v1/sandboxes/{name}/sessions/{id}/pending/{pid}', { path, body });
  }

  cancel(place: Place): Promise<unknown> {
    return this.#at('POST', place, '/cancel');
  }

  fork(place: Place, asked: { readonly title?: string | undefined }): Promise<SessionView> {
    const body = { sessionId: ulidAfter(null, Date.now()), ...asked };
    return again(() => this.#at('POST', place, '/fork', body));
  }

  close(place: Place): Promise<unknown> {
    return this.#at('POST', place, '/close');
  }

  remove(place: Place): Promise<unknown> {
    return this.#at('DELETE', place);
  }

  /** A line about the changes in the working copy; null: there are none. */
  async changes(place: Place): Promise<string | null> {
    const path = { name: place.sandbox, id: place.id };
    const { changedFiles } = await this.#call<{ readonly changedFiles?: number | null }>(
      'GET /v1/sandboxes/{name}/sessions/{id}',
      { path, query: { changes: true } },
    );
    return changedFiles ? `${counted(changedFiles, 'file')} changed: carrel diff ${place.sandbox}` : null;
  }

  events(place: Place, after: number, signal: AbortSignal): AsyncGenerator<SessionEvent> {
    const input = { path: { name: place.sandbox, id: place.id }, query: { after }, signal };
    return this.#client.sent('GET /v1/sandboxes/{name}/sessions/{id}/events' as never, input as never);
  }

  #at<T>(method: string, { sandbox, id }: Place, end = '', body?: object): Promise<T> {
    const path = { name: sandbox, id };
    return this.#call(`${method} /v1/sandboxes/{name}/sessions/{id}${end}`, { path, ...(body ? { body } : {}) });
  }

  #call<T>(route: string, input: object = {}): Promise<T> {
    return this.#client.call(route as never, input as never) as Promise<T>;
  }
}

async function again<T>(send: () => Promise<T>, times = maxAgain): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (times === 0 || !isFault(error, 'unavailable')) throw error;
    return again(send, times - 1);
  }
}
