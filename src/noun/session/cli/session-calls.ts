/**
 * Calls the routes about sessions. The client chooses the ids of prompts and new sessions, so it can retry both when
 * the daemon went away before it answered.
 */
import { randomUUID } from 'node:crypto';
import type { Client } from '../../../client/client.ts';
import { counted } from '../../../client/output/count.ts';
import { isFault } from '../../../model/fault.ts';
import { ulidAfter } from '../../../model/ulid.ts';
import type { SessionMessageView, SessionView } from '../api.ts';
import type { SessionEvent } from '../model/session.ts';

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
    return this.#client.call('GET /v1/sessions');
  }

  of(sandbox: string): Promise<readonly SessionView[]> {
    return this.#client.call('GET /v1/sandboxes/{name}/sessions', { path: { name: sandbox } });
  }

  show(place: Place): Promise<SessionView> {
    return this.#client.call('GET /v1/sandboxes/{name}/sessions/{id}', { path: pathOf(place) });
  }

  messages(place: Place): Promise<readonly SessionMessageView[]> {
    return this.#client.call('GET /v1/sandboxes/{name}/sessions/{id}/messages', { path: pathOf(place) });
  }

  create(sandbox: string, request: { readonly agent?: string | undefined }): Promise<SessionView> {
    const body = { sessionId: ulidAfter(null, Date.now()), ...request };
    return again(() => this.#client.call('POST /v1/sandboxes/{name}/sessions', { path: { name: sandbox }, body }));
  }

  /** Creates a session in a new sandbox. */
  createFor(project: string, request: { readonly agent?: string | undefined }): Promise<SessionView> {
    const body = { sessionId: ulidAfter(null, Date.now()), project, ...request };
    return again(() => this.#client.call('POST /v1/sessions', { body }));
  }

  prompt(place: Place, text: string, queue: boolean): Promise<{ readonly turnId: string; readonly seq: number }> {
    const input = { path: pathOf(place), body: { turnId: randomUUID(), text, queue } };
    return again(() => this.#client.call('POST /v1/sandboxes/{name}/sessions/{id}/prompt', input));
  }

  answer(place: Place, pendingId: string, body: AnswerBody): Promise<unknown> {
    const path = { ...pathOf(place), pid: pendingId };
    return this.#client.call('POST /v1/sandboxes/{name}/sessions/{id}/pending/{pid}', { path, body });
  }

  cancel(place: Place): Promise<SessionView> {
    return this.#client.call('POST /v1/sandboxes/{name}/sessions/{id}/cancel', { path: pathOf(place) });
  }

  fork(place: Place, request: { readonly title?: string | undefined }): Promise<SessionView> {
    const input = { path: pathOf(place), body: { sessionId: ulidAfter(null, Date.now()), ...request } };
    return again(() => this.#client.call('POST /v1/sandboxes/{name}/sessions/{id}/fork', input));
  }

  close(place: Place): Promise<SessionView> {
    return this.#client.call('POST /v1/sandboxes/{name}/sessions/{id}/close', { path: pathOf(place) });
  }

  remove(place: Place): Promise<SessionView> {
    return this.#client.call('DELETE /v1/sandboxes/{name}/sessions/{id}', { path: pathOf(place) });
  }

  /** A line about the changes in the working copy; null: there are none. */
  async changes(place: Place): Promise<string | null> {
    const input = { path: pathOf(place), query: { changes: true } };
    const { changedFiles } = await this.#client.call('GET /v1/sandboxes/{name}/sessions/{id}', input);
    return changedFiles ? `${counted(changedFiles, 'file')} changed: carrel diff ${place.sandbox}` : null;
  }

  events(place: Place, after: number, signal: AbortSignal): AsyncGenerator<SessionEvent> {
    const input = { path: pathOf(place), query: { after }, signal };
    return this.#client.sent('GET /v1/sandboxes/{name}/sessions/{id}/events', input);
  }
}

function pathOf({ sandbox, id }: Place): { readonly name: string; readonly id: string } {
  return { name: sandbox, id };
}

async function again<T>(send: () => Promise<T>, times = maxAgain): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (times === 0 || !isFault(error, 'unavailable')) throw error;
    return again(send, times - 1);
  }
}
