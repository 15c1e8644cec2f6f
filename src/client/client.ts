/**
 * How everything outside the daemon talks to it: HTTP over the unix socket of one home, or over the one that a daemon
 * shares with other users. Typed by the table of routes, but without its schemas, so that a command starts quickly.
 *
 * A refusal of the daemon is thrown as the Fault it sent. If no daemon listens, `start` starts one and the request is
 * sent then: nothing was sent before, so that is always safe. A request that only reads is retried if its daemon dies
 * before it answers; for any other request the error says how to find out whether it was done.
 */

import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { firstBytes } from '../lib/process/collect.ts';
import { actAsHeader, clientHeader, methodAndPath, noticeHeader } from '../lib/wire/api.ts';
import { decodeJson, type Frame, FrameReader, streamProtocol } from '../lib/wire/stream.ts';
import type { Event } from '../model/event.ts';
import { Fault, type FaultBody, isFault } from '../model/fault.ts';
import { formatSize } from '../model/size.ts';
import type { Answering, AnswerOf, Input, PathOf, QueryOf, RouteKey } from '../noun/routes.ts';
import { broken, type DaemonAddress, dial } from './dial.ts';

/** A list of a million changes has less, unless their paths are long. V8 has no longer strings. */
const maxAnswerBytes = 500 * 1024 ** 2;

/** The caller. Left out: the owner of the home, whom the socket of the home admits without a token. */
export interface CallerOptions {
  readonly token?: string | undefined;
  /** The user that the owner acts as. */
  readonly actAs?: string | undefined;
  /** The build of the calling program: an older daemon answers with a notice. */
  readonly build?: object | undefined;
  /** Awaited once, before the first request. */
  readonly before?: () => Promise<void>;
  /** Called with a notice that the daemon sends besides the answer. */
  readonly onNotice?: (notice: string) => void;
}

interface Message {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly signal: AbortSignal | undefined;
}

/** Retries of a request that only reads. */
const maxAgain = 2;
/** Starts of a daemon, if it is gone each time before the request could be sent. */
const maxStarts = 3;

export class Client {
  readonly #address: DaemonAddress;
  readonly #start: (() => Promise<void>) | undefined;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #onNotice: CallerOptions['onNotice'];
  readonly #before: CallerOptions['before'];
  #ready: Promise<void> | undefined;

  constructor(
    address: DaemonAddress,
    start?: () => Promise<void>,
    { token, actAs, build, onNotice, before }: CallerOptions = {},
  ) {
    this.#address = address;
    this.#start = start;
    this.#onNotice = onNotice;
    this.#before = before;
    this.#headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(actAs === undefined ? {} : { [actAsHeader]: actAs }),
      ...(build === undefined ? {} : { [clientHeader]: encodeURIComponent(JSON.stringify(build)) }),
    };
  }

  async call<K extends RouteKey>(route: K, input: Input<K> = {}): Promise<AnswerOf<K>> {
    const response = await this.#answer(route, input);
    return parseJson(await readText(response)) as AnswerOf<K>;
  }

  /** The raw socket after the daemon switched to frames. */
  async upgrade<K extends Answering<'upgrade'>>(route: K, path?: PathOf<K>, query?: QueryOf<K>): Promise<Socket> {
    const message = this.#compose(route, { ...(path ? { path } : {}), ...(query ? { query } : {}) });
    const headers = { ...message.headers, connection: 'Upgrade', upgrade: streamProtocol };
    return switched(send({ ...message, headers }, await this.#dial()));
  }

  /** The frames of an answer. A fault frame is thrown. */
  async *frames<K extends Answering<'frames'>>(route: K, input: Input<K>): AsyncGenerator<Frame> {
    yield* readFrames(await this.#answer(route, input));
  }

  /** Events after a sequence number, then as they happen. */
  async *follow(after: number, signal?: AbortSignal): AsyncGenerator<Event> {
    yield* this.sent<Event>('GET /v1/events/stream', { query: { after }, ...(signal ? { signal } : {}) });
  }

  /** The data of server-sent events, parsed. */
  async *sent<T>(route: Answering<'sse'>, input: Input<typeof route>): AsyncGenerator<T> {
    const response = await this.#answer(route, input);
    for await (const data of readServerSent(response)) yield parseJson(data) as T;
  }

  async #answer<K extends RouteKey>(route: K, input: Input<K>): Promise<IncomingMessage> {
    const message = this.#compose(route, input);
    const response = await this.#ask(message);
    const notice = response.headers[noticeHeader];
    if (typeof notice === 'string') this.#onNotice?.(decodeURIComponent(notice));
    if ((response.statusCode ?? 500) < 400) return response;
    throw refusal(response, await readText(response));
  }

  async #ask(message: Message, again = maxAgain): Promise<IncomingMessage> {
    try {
      return await answered(send(message, await this.#dial()));
    } catch (error) {
      if (!isReset(error)) throw error;
      if (message.method !== 'GET') throw unknownEnd(error);
      if (again === 0) throw error;
      return this.#ask(message, again - 1);
    }
  }

  #compose<K extends RouteKey>(route: K, input: Input<K>): Message {
    const message = compose(route, input);
    return { ...message, headers: { ...message.headers, ...this.#headers } };
  }

  async #dial(): Promise<Socket> {
    this.#ready ??= this.#before?.();
    await this.#ready;
    for (let starts = 0; ; starts += 1) {
      try {
        return await dial(this.#address);
      } catch (error) {
        if (!this.#start || !isFault(error, 'unavailable') || starts === maxStarts) throw error;
        await this.#start();
      }
    }
  }
}

/** Whole frames as they arrive; a fault frame is thrown, a broken connection is a Fault too. */
export async function* readFrames(stream: Readable): AsyncGenerator<Frame> {
  const reader = new FrameReader();
  for await (const chunk of chunks(stream)) {
    for (const frame of wholeFrames(reader, chunk)) {
      if (frame.type === 'fault') throw Fault.from(decodeJson(frame) as FaultBody);
      yield frame;
    }
  }
}

const otherVersion = 'If the daemon has another version than this command, restart it: carrel down';

function wholeFrames(reader: FrameReader, chunk: Buffer): Frame[] {
  try {
    return reader.push(chunk);
  } catch (error) {
    throw new Fault('internal', 'the daemon sent something that is not a carrel stream', {
      cause: error,
      hint: otherVersion,
    });
  }
}

async function* chunks(stream: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream) yield chunk as Buffer;
  } catch (error) {
    throw broken(error);
  }
}

/** The data of server-sent events; comments and other fields are skipped. */
async function* readServerSent(stream: Readable): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let held = '';
  let data: string[] = [];
  for await (const chunk of chunks(stream)) {
    const lines = (held + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
    held = lines.pop()!;
    for (const line of lines) {
      if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
      if (line !== '' || data.length === 0) continue;
      yield data.join('\n');
      data = [];
    }
  }
}

function compose<K extends RouteKey>(route: K, input: Input<K>): Message {
  const { method, path } = methodAndPath(route);
  const body = input.body === undefined ? '' : JSON.stringify(input.body);
  return {
    method,
    path: filled(path, input.path ?? {}) + queryString(input.query),
    headers: body === '' ? {} : { 'content-type': 'application/json' },
    body,
    signal: input.signal,
  };
}

function filled(path: string, names: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(names[name] ?? ''));
}

function queryString(query: unknown): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) if (value !== undefined) search.set(key, String(value));
  return search.size === 0 ? '' : `?${search}`;
}

function send(message: Message, socket: Socket): ClientRequest {
  const { method, path, headers, signal } = message;
  const request = httpRequest({
    method,
    path,
    headers: { host: 'carrel', ...headers },
    createConnection: () => socket,
    ...(signal ? { signal } : {}),
  });
  return request.end(message.body);
}

function answered(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    request.on('error', (error) => reject(broken(error)));
  });
}

function switched(request: ClientRequest): Promise<Socket> {
  return new Promise((resolve, reject) => {
    request.on('error', (error) => reject(broken(error)));
    request.once('upgrade', (_response, socket: Socket, head) => {
      // The reader of the socket sees its errors; an error after the last frame has no reader, ignoring.
      socket.on('error', () => {});
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    request.once('response', (response) => {
      readText(response).then((text) => reject(refusal(response, text)), reject);
    });
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  const bytes = await firstBytes(chunks(response), maxAnswerBytes + 1);
  if (bytes.length <= maxAnswerBytes) return bytes.toString('utf8');
  throw new Fault('exhausted', `the daemon answered with more than ${formatSize(maxAnswerBytes)}`, {
    hint: 'Name fewer things, such as some paths of a working copy instead of all.',
  });
}

function refusal(response: IncomingMessage, text: string): Fault {
  const body = parseJson(text) as Partial<FaultBody> | null;
  if (typeof body?.code === 'string' && typeof body.message === 'string') return Fault.from(body as FaultBody);
  return new Fault('internal', `the daemon answered with status ${response.statusCode} and no reason`, {
    hint: otherVersion,
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Fault('internal', 'the daemon answered with something that is not JSON', {
      cause: error,
      hint: otherVersion,
    });
  }
}

/** The daemon went away before it answered, or while it sent frames. */
export function isReset(error: unknown): error is Fault {
  const { code } = ((error as Fault).cause ?? {}) as NodeJS.ErrnoException;
  return isFault(error, 'unavailable') && (code === 'ECONNRESET' || code === 'EPIPE');
}

function unknownEnd({ message, cause }: Fault): Fault {
  return new Fault('unavailable', message, {
    cause,
    hint: 'It may have been done or not: carrel audit tells, and daemon.log in the home says what happened.',
  });
}
