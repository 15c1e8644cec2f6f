/**
 * The client of the agent API inside a sandbox. Agents run beside that program and could replace it, so every answer is limited in size and
 * time and checked before it is used.
 */
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, pipeline, Readable } from 'node:stream';
import { readJsonText } from '../../lib/wire/bounded-json.ts';
import { asFault, Fault, type FaultBody, faultTable, isFault } from '../../model/fault.ts';
import { EventStream, type ParsedSseEvent } from './event-stream.ts';
import { agentApiPort } from './model/session.ts';

export interface AgentApiCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
}

/** An error that the agent API itself answered, unlike a connection that failed. */
export class AgentApiRefusal extends Fault {}

const maxAnswerBytes = 8 * 1024 ** 2;
/** Long: an apply or a snapshot may have paused the sandbox. */
const answerMs = 60_000;
/** The most idle connections; more are open while more requests run. */
const maxIdle = 4;

export class AgentApi {
  readonly #kept: ApiConnections;
  /** Connections for requests that take long and cannot be repeated here. */
  readonly #single: ApiConnections;
  readonly #token: string;
  readonly #answerMs: number;

  constructor(dial: () => Promise<Socket>, token: string, longestMs = answerMs) {
    this.#kept = new ApiConnections(dial, true);
    this.#single = new ApiConnections(dial, false);
    this.#token = token;
    this.#answerMs = longestMs;
  }

  /** Resolves to the answer as JSON. A refusal is thrown as its Fault; a failed or lost connection is `unavailable`. */
  async call({ method, path, body }: AgentApiCall): Promise<unknown> {
    const sent = body === undefined ? '' : JSON.stringify(body);
    const signal = AbortSignal.timeout(this.#answerMs);
    for (;;) {
      const request = this.#request(method, path, signal, this.#kept);
      try {
        return await this.#json(await opened(request, sent));
      } catch (error) {
        // A kept connection may have ended before the request arrived. Requests are idempotent: ids are made before.
        if (!request.reusedSocket || !isFault(error, 'unavailable') || error instanceof AgentApiRefusal) throw error;
      }
    }
  }

  /** Closes the connections that are kept for later requests. */
  close(): void {
    this.#kept.destroy();
  }

  /** Replaces the log of a session. */
  async restore(id: string, lines: AsyncIterable<string>): Promise<void> {
    const request = this.#request('POST', `/sessions/${id}/restore`, AbortSignal.timeout(this.#answerMs));
    await this.#json(await opened(request, Readable.from(withNewlines(lines))));
  }

  /** Events of all sessions after these positions, as they come, several at a time. Resolves when the program has accepted. */
  async events(after: Readonly<Record<string, number>>, signal: AbortSignal): Promise<AsyncIterable<ParsedSseEvent[]>> {
    const path = `/events?after=${encodeURIComponent(JSON.stringify(after))}`;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), this.#answerMs);
    try {
      const request = this.#request('GET', path, AbortSignal.any([signal, late.signal]));
      const response = await opened(request, '');
      if (response.statusCode !== 200) await this.#json(response);
      return sentBy(response);
    } finally {
      clearTimeout(timer);
    }
  }

  #request(method: string, path: string, signal: AbortSignal, agent = this.#single): ClientRequest {
    return httpRequest({
      ...{ method, path, signal, agent, maxHeaderSize: 16 * 1024 },
      headers: {
        host: `127.0.0.1:${agentApiPort}`,
        authorization: `Bearer ${this.#token}`,
        ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
      },
    });
  }

  async #json(response: IncomingMessage): Promise<unknown> {
    try {
      const text = await readJsonText(response, maxAnswerBytes).catch((error) => {
        throw isFault(error) ? notJson(error) : error;
      });
      if (text === null) throw new Fault('corrupt', 'an answer that is too long');
      const value = text === '' ? null : parsed(text);
      if ((response.statusCode ?? 0) < 300) return value;
      throw refusalOf(response.statusCode, value);
    } catch (error) {
      throw isFault(error) ? error : lost(error);
    } finally {
      // After a complete answer the connection stays open for the next request.
      if (!response.complete) response.destroy();
    }
  }
}

/**
 * Connections to one agent API. Making one in the network of a sandbox takes longer than most answers, so they can be
 * kept open between requests. Each new connection finds the sandbox again; connections of an earlier start ended with
 * it.
 */
class ApiConnections extends Agent {
  readonly #dial: () => Promise<Socket>;

  constructor(dial: () => Promise<Socket>, isKept: boolean) {
    super({ keepAlive: isKept, maxFreeSockets: maxIdle, scheduling: 'lifo' });
    this.#dial = dial;
  }

  override createConnection(_options: object, made: (error: Error | null, socket?: Duplex) => void): undefined {
    this.#dial().then(
      (socket) => made(null, socket),
      (error: Error) => made(error),
    );
  }
}

/** Sends the body. Its errors show as errors of the response. */
function opened(request: ClientRequest, body: string | Readable): Promise<IncomingMessage> {
  const response = answered(request);
  response.catch(() => {});
  if (typeof body === 'string') request.end(body);
  else pipeline(body, request, () => {});
  return response;
}

async function* withNewlines(lines: AsyncIterable<string>): AsyncIterable<string> {
  for await (const line of lines) yield `${line}\n`;
}

function answered(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    request.on('error', (error) => reject(isFault(error) ? error : lost(error)));
  });
}

async function* sentBy(response: IncomingMessage): AsyncGenerator<ParsedSseEvent[]> {
  const stream = new EventStream();
  try {
    for await (const chunk of response) {
      const events = stream.push(chunk as Buffer);
      if (events.length > 0) yield events;
    }
  } catch (error) {
    throw isFault(error) ? error : lost(error);
  } finally {
    response.destroy();
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw notJson(error);
  }
}

function notJson(error: unknown): Fault {
  return new Fault('corrupt', 'an answer that is not JSON', { cause: error });
}

function refusalOf(status: number | undefined, value: unknown): Fault {
  const { code, message, hint } = (value ?? {}) as Partial<FaultBody>;
  if (typeof code !== 'string' || !Object.hasOwn(faultTable, code) || typeof message !== 'string')
    return new Fault('corrupt', `an answer with status ${status} and no reason`);
  return new AgentApiRefusal(
    code,
    message.slice(0, 2000),
    typeof hint === 'string' ? { hint: hint.slice(0, 2000) } : {},
  );
}

function lost(error: unknown): Fault {
  const { name, code } = error as NodeJS.ErrnoException;
  if (code === 'HPE_HEADER_OVERFLOW') return new Fault('corrupt', 'an answer with too many headers', { cause: error });
  if (name === 'AbortError' || name === 'TimeoutError')
    return new Fault('timeout', 'the agent API does not answer', { cause: error });
  return new Fault('unavailable', `the connection to the agent API ended: ${asFault(error).message}`, { cause: error });
}
