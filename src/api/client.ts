/**
 * How everything outside the daemon talks to it: HTTP over the unix socket of one home. Typed by the table of routes,
 * but without its schemas, so that a command starts quickly.
 *
 * A refusal of the daemon is thrown as the Fault it sent. When nobody listens, `start` (if given) is asked to bring a
 * daemon up and the request is made again: nothing was sent before, so that is always safe.
 */
import { closeSync, constants, openSync } from 'node:fs';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Event } from '../model/event.ts';
import { Fault, type FaultBody, isFault } from '../model/fault.ts';
import { paths } from './paths.ts';
import type { AnswerOf, BodyOf, QueryOf, RouteName } from './routes.ts';
import { decodeJson, type Frame, FrameReader, streamProtocol } from './stream.ts';

export interface Input<K extends RouteName> {
  readonly path?: { readonly name: string };
  readonly query?: QueryOf<K>;
  readonly body?: BodyOf<K>;
  readonly signal?: AbortSignal;
}

interface Message {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly signal: AbortSignal | undefined;
}

export class Client {
  readonly #home: string;
  readonly #start: (() => Promise<void>) | undefined;

  constructor(home: string, start?: () => Promise<void>) {
    this.#home = home;
    this.#start = start;
  }

  async call<K extends RouteName>(route: K, input: Input<K> = {}): Promise<AnswerOf<K>> {
    const response = await this.#answer(route, input);
    return parseJson(await readText(response)) as AnswerOf<K>;
  }

  /** The raw socket after the daemon switched to frames. */
  async upgrade(route: 'attachSandbox' | 'execSandbox', path: { readonly name: string }): Promise<Socket> {
    const message = compose(route, { path });
    const headers = { ...message.headers, connection: 'Upgrade', upgrade: streamProtocol };
    return switched(send({ ...message, headers }, await this.#dial()));
  }

  /** The frames of an answer. A fault frame is thrown. */
  async *frames<K extends 'sandboxLogs' | 'diffSandbox' | 'patchSandbox'>(
    route: K,
    input: Input<K>,
  ): AsyncGenerator<Frame> {
    yield* readFrames(await this.#answer(route, input));
  }

  /** Events after a sequence number, then as they happen. */
  async *follow(after: number, signal?: AbortSignal): AsyncGenerator<Event> {
    const response = await this.#answer('followEvents', { query: { after }, ...(signal ? { signal } : {}) });
    for await (const data of readServerSent(response)) yield parseJson(data) as Event;
  }

  async #answer<K extends RouteName>(route: K, input: Input<K>): Promise<IncomingMessage> {
    const message = compose(route, input);
    const response = await answered(send(message, await this.#dial()));
    if ((response.statusCode ?? 500) < 400) return response;
    throw refusal(response, await readText(response));
  }

  async #dial(): Promise<Socket> {
    try {
      return await dial(this.#home);
    } catch (error) {
      if (!this.#start || !isFault(error, 'unavailable')) throw error;
      await this.#start();
      return dial(this.#home);
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

function wholeFrames(reader: FrameReader, chunk: Buffer): Frame[] {
  try {
    return reader.push(chunk);
  } catch (error) {
    throw new Fault('internal', 'the daemon sent something that is not a carrel stream', { cause: error });
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
export async function* readServerSent(stream: Readable): AsyncGenerator<string> {
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

/**
 * A connection to the socket of a home. The path of a unix socket is limited to 107 bytes and a home may be deeper, so
 * the socket is named through an open descriptor of the home.
 */
function dial(home: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const folder = openHome(home);
    const socket = connect(`/proc/self/fd/${folder}/carrel.sock`);
    const fail = (error: Error) => {
      closeSync(folder);
      reject(unreachable(error, home));
    };
    socket.once('error', fail);
    socket.once('connect', () => {
      closeSync(folder);
      socket.off('error', fail);
      resolve(socket);
    });
  });
}

function openHome(home: string): number {
  try {
    return openSync(home, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch (error) {
    throw unreachable(error, home);
  }
}

function unreachable(error: unknown, home: string): Fault {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
    case 'ECONNREFUSED':
      return new Fault('unavailable', 'the daemon is not running', { cause: error, hint: 'carrel up -d' });
    case 'EACCES':
    case 'EPERM':
      return new Fault('denied', `${home} belongs to somebody else`, {
        cause: error,
        hint: 'Use a home of your own: --home DIR or CARREL_HOME.',
      });
    case 'ENOTDIR':
      return new Fault('invalid', `${home} is not a folder`, { cause: error, hint: 'Give --home a folder.' });
    default:
      return broken(error);
  }
}

function compose<K extends RouteName>(route: K, input: Input<K>): Message {
  const { method, path } = paths[route];
  const body = input.body === undefined ? '' : JSON.stringify(input.body);
  return {
    method,
    path: path.replace('{name}', () => encodeURIComponent(input.path?.name ?? '')) + queryString(input.query),
    headers: body === '' ? {} : { 'content-type': 'application/json' },
    body,
    signal: input.signal,
  };
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
      // Whoever reads the socket learns of its errors there; one that comes after the last frame has no reader.
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
  const parts: Buffer[] = [];
  for await (const chunk of chunks(response)) parts.push(chunk);
  return Buffer.concat(parts).toString('utf8');
}

function refusal(response: IncomingMessage, text: string): Fault {
  const body = parseJson(text) as Partial<FaultBody> | null;
  if (typeof body?.code === 'string' && typeof body.message === 'string') return Fault.from(body as FaultBody);
  return new Fault('internal', `the daemon answered with status ${response.statusCode} and no reason`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Fault('internal', 'the daemon answered with something that is not JSON', { cause: error });
  }
}

function broken(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const name = (error as Error).name;
  if (name === 'AbortError' || name === 'TimeoutError') return abandoned(error as Error);
  return new Fault('unavailable', `the connection to the daemon broke: ${(error as Error).message}`, {
    cause: error,
    hint: 'Try again; daemon.log in the home says what happened.',
  });
}

function abandoned(error: Error): Fault {
  const late = error.name === 'TimeoutError' || (error.cause as Error | undefined)?.name === 'TimeoutError';
  return late
    ? new Fault('timeout', 'the daemon did not answer in time', { cause: error })
    : new Fault('cancelled', 'interrupted', { cause: error });
}
