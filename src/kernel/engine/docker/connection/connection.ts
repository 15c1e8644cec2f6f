/**
 * The connection to a Docker Engine, at the socket that `socket.ts` finds. Its client library is loaded when first needed,
 * and its errors become Faults here. Beside it: what every part reads through it (facts of the engine, containers of this
 * installation, events) and the frames in which output arrives.
 */
import { Agent, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import { inspect } from 'node:util';
import type Docker from 'dockerode';
import { withTimeout } from '../../../../lib/flow/with-timeout.ts';
import { Fault, spaceHint } from '../../../../model/fault.ts';

const answerMs = 120_000;

export interface RequestBody {
  readonly body: Readable | undefined;
  readonly signal: AbortSignal;
}

export class Connection {
  readonly socketPath: string;
  #docker: Promise<Docker> | null = null;

  constructor(socketPath: string) {
    this.socketPath = socketPath;
  }

  /** Variables such as DOCKER_HOST are for the person at the terminal; the daemon does not read them here. */
  #client(): Promise<Docker> {
    const agent = new EngineAgent();
    const settings = { socketPath: this.socketPath, agent, host: undefined, protocol: 'http', timeout: undefined };
    this.#docker ??= import('dockerode').then(({ default: Client }) => new Client(settings as Docker.DockerOptions));
    return this.#docker;
  }

  async ask<T>(question: (docker: Docker) => Promise<T>, withinMs = answerMs): Promise<T> {
    const docker = await this.#client();
    try {
      return await withTimeout(withinMs, question(docker), () => {
        throw this.#silent(withinMs);
      });
    } catch (error) {
      throw this.#faultOf(error);
    }
  }

  /** Sends a request without a time-out. */
  async wait<T>(question: (docker: Docker) => Promise<T>): Promise<T> {
    try {
      return await question(await this.#client());
    } catch (error) {
      throw this.#faultOf(error);
    }
  }

  /** Null: the engine does not have the object. */
  async find<T>(question: (docker: Docker) => Promise<T>, withinMs = answerMs): Promise<T | null> {
    try {
      return await this.ask(question, withinMs);
    } catch (error) {
      if (statusOf(error) === 404) return null;
      throw error;
    }
  }

  /** An answer as a stream, for long or endless answers. */
  stream(path: string, query: Readonly<Record<string, string>>): Promise<IncomingMessage> {
    return this.ask((docker) => dial(docker, { path: `${path}?`, method: 'GET', options: query }));
  }

  /** A POST with a streamed answer and no time limit, with or without an archive as body. */
  post(path: string, query: Readonly<Record<string, string>>, { body, signal }: RequestBody): Promise<IncomingMessage> {
    const options = { _query: query, _body: {} };
    const order = { path: `${path}?`, method: 'POST', file: body, abortSignal: signal, options };
    return this.wait((docker) => dial(docker, order));
  }

  /** Sends a request for which the client library has no function. */
  send(path: string, body: object): Promise<unknown> {
    const order = { path, method: 'POST', options: { _body: body }, isStream: false };
    return this.ask((docker) => dial<unknown>(docker, order));
  }

  /**
   * Turns the connection into a two-way stream, which begins with the bytes that the engine has already sent. Podman
   * treats an unexpected body as input.
   */
  hijack(path: string, query: Readonly<Record<string, string>>, body: object | null): Promise<Socket> {
    const headers = { 'Content-Type': 'application/json' };
    const file = Buffer.from(body === null ? '' : JSON.stringify(body));
    const order = { path: `${path}?`, method: 'POST', hijack: true, headers, file, options: { _query: query } };
    return this.ask((docker) => dial<Socket>(docker, order));
  }

  /** The fault of an answer that ended early. */
  brokeOff(error: unknown): Fault {
    return this.#faultOf(error);
  }

  #silent(withinMs: number): Fault {
    return new Fault('timeout', `the Docker Engine at ${this.socketPath} gives no answer within ${withinMs} ms`, {
      hint: `Look at its log, or restart it: systemctl restart ${serviceOf(this.socketPath)}`,
    });
  }

  #faultOf(error: unknown): Fault {
    if (error instanceof Fault) return error;
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (silent.includes(code)) return noEngine(this.socketPath, error);
    if (statusOf(error) === null) {
      const message = `the connection to the Docker Engine at ${this.socketPath} was lost: ${(error as Error).message}`;
      return new Fault('unavailable', message, { cause: error, hint: 'It may be restarting; try again.' });
    }
    return refusal(error as ClientError);
  }
}

/**
 * Opens a connection for each request: a connection that is kept may lead to an engine that no longer runs. When an
 * answer ends early, the client library would wait for the rest for ever, so the agent emits an error on the request.
 */
class EngineAgent extends Agent {
  /**
   * Keeps the description short: the client library describes each request for its debug log, with every object that
   * the agent refers to.
   */
  [inspect.custom](): string {
    return 'EngineAgent';
  }

  addRequest(request: ClientRequest, ...rest: unknown[]): void {
    request.once('response', (answer) => {
      answer.once(
        'close',
        () => void (answer.complete || request.emit('error', new Error('an answer without its end'))),
      );
    });
    (Agent.prototype as unknown as EngineAgent).addRequest.call(this, request, ...rest);
  }
}

function dial<T = IncomingMessage>(docker: Docker, order: object): Promise<T> {
  return new Promise((resolve, reject) => {
    docker.modem.dial({ isStream: true, ...order, statusCodes } as never, (error: unknown, answer: unknown) =>
      error ? reject(error) : resolve(answer as T),
    );
  });
}

const statusCodes = { 200: true, 201: true, 204: true, 404: 'not found', 500: 'server error' };

const silent = ['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', 'ENOTDIR', 'EACCES'];
const forbidden = 'This account may not use it: join the group docker, or use the embedded engine: --engine local.';

function serviceOf(socketPath: string): 'podman' | 'docker' {
  return basename(socketPath).startsWith('podman') ? 'podman' : 'docker';
}

export function noEngine(socketPath: string, cause?: unknown): Fault {
  const unit = serviceOf(socketPath) === 'podman' ? 'podman.socket' : 'docker';
  const start = `Start it (systemctl start ${unit}), or use the embedded engine: --engine local.`;
  const hint = (cause as NodeJS.ErrnoException | undefined)?.code === 'EACCES' ? forbidden : start;
  return new Fault('unavailable', `no Docker Engine answers at ${socketPath}`, { cause, hint });
}

/** The errors that the client library throws. */
interface ClientError extends Error {
  readonly statusCode?: number;
  readonly json?: { readonly cause?: unknown; readonly message?: unknown } | null;
}

/**
 * The status that the engine answered with; null for other errors. When a container is removed while Podman reads it,
 * Podman answers with status 500, which counts as 404.
 */
export function statusOf(error: unknown): number | null {
  const foreign = (error instanceof Fault ? error.cause : error) as ClientError | undefined;
  if (foreign?.statusCode === 500 && foreign.json?.cause === 'no such container') return 404;
  return foreign?.statusCode ?? null;
}

/** Whether the error says that the engine regards the volume as mounted. */
export function hasActiveMounts(error: unknown): boolean {
  return /has active mounts/.test((error as Error).message);
}

function refusal(error: ClientError): Fault {
  const message = messageOf(error);
  const details = { cause: error };
  if (/no space left/i.test(message)) {
    return new Fault('exhausted', `no space left: ${message}`, { ...details, hint: spaceHint });
  }
  if (/cannot allocate memory/i.test(message)) {
    return new Fault('exhausted', `no memory left: ${message}`, { ...details, hint: 'Stop some sandboxes.' });
  }
  const code = requestFault(message, statusOf(error));
  if (code !== null) return new Fault(code, message, details);
  return new Fault('unavailable', `the Docker Engine says: ${message}`, { ...details, hint: 'See carrel doctor.' });
}

/**
 * Null: the request was correct. An error of the OCI runtime is never the fault of the request, whatever status the
 * engine returns.
 */
function requestFault(message: string, status: number | null): 'not_found' | 'conflict' | 'invalid' | null {
  if (/OCI runtime|shim task/i.test(message)) return null;
  if (status === 404) return 'not_found';
  if (status === 409) return 'conflict';
  return status === 400 ? 'invalid' : null;
}

function messageOf(error: ClientError): string {
  const message = error.json?.message;
  const text = typeof message === 'string' ? message : error.message.replace(/^\(HTTP code \d+\) [\w ]+ - /, '');
  // An answer to HEAD has no body.
  return text.trim() || `status ${error.statusCode}, without a reason`;
}
