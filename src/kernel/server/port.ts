/**
 * A port of the daemon. It serves a table of paths: public documents, handlers for authenticated clients, and handlers that authenticate
 * a request by its body, because it comes from another site through proxies. The port checks a request of a client in this order: Host
 * and Origin, path, token, rate, body. Every size and time is limited. Off loopback the port speaks only TLS.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { listenPrivately } from '../../lib/file/private-socket.ts';
import type { Rate } from '../../lib/flow/rate.ts';
import { firstBytes } from '../../lib/process/collect.ts';
import { maxDescriptors } from '../../lib/process/process.ts';
import { readJsonText } from '../../lib/wire/bounded-json.ts';
import { Connections, limitsFor } from '../../lib/wire/connections.ts';
import { refusalText } from '../../lib/wire/refusal.ts';
import { SameSite } from '../../lib/wire/same-site.ts';
import { asFault, Fault, faultTable } from '../../model/fault.ts';
import type { Authentication, ClientIdentity } from '../../noun/hub/token/authentication.ts';
import { callerHeader } from '../../noun/network/model/service.ts';
import { CallerLimit } from './caller-limit.ts';
import { bindPort, createPortServer, type PortAddress, portTimes } from './port-server.ts';

export interface PortParts {
  readonly authentication: Authentication;
  readonly rate: Pick<Rate, 'take'>;
  /** Answers to GET that every client may read, by path. */
  readonly documents: Readonly<Record<string, () => object>>;
  /** By path. They are closed in this order. */
  readonly handlers: Readonly<Record<string, PortHandler>>;
  readonly open?: readonly OpenHandler[];
  /** The hint for a request at another path. */
  readonly hint: string;
}

/** Serves the authenticated requests of clients at one path. */
export interface PortHandler {
  readonly maxBodyBytes?: number;
  /** Left out: the path takes no HTTP requests. */
  answer?(request: ClientRequest): Promise<Response>;
  /** Accepts a WebSocket; left out: the path takes none. */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer, identity: ClientIdentity): Promise<void>;
  close(): void | Promise<void>;
}

export interface ClientRequest {
  /** Its signal is aborted when the client goes away. */
  readonly request: Request;
  readonly identity: ClientIdentity;
  /** The body of a POST. */
  readonly text: string | undefined;
  /** Settles when the answer is sent or its client is gone. */
  readonly ended: Promise<void>;
  /** Closes the connection. */
  drop(): void;
}

/** Serves POST without a token: the handler itself authenticates the sender. */
export interface OpenHandler {
  /** The beginning of the paths that it serves. */
  readonly path: string;
  readonly maxBodyBytes: number;
  /** `name`: the rest of the path. */
  answer(name: string, request: OpenRequest): Promise<Response>;
}

export interface OpenRequest {
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export interface Port {
  /** For example http://127.0.0.1:3000. */
  readonly origin: string;
  /** Stops accepting connections. */
  stop(): void;
  /** Ends the open connections. */
  close(): Promise<void>;
}

/** HTTP clients open one connection for each pending request. */
const maxConnections = 4096;
const tooManyRequests = 429;
const tooLarge = 413;

/** The objects that hono's listener passes besides the request. */
interface Bindings {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

export async function openPort(
  where: PortAddress,
  parts: PortParts,
  limits = limitsFor(maxDescriptors(), maxConnections),
  times = portTimes,
): Promise<Port> {
  // The accounts of TCP clients are not known, so all share one limit.
  const connections = new Connections({ ...limits, perAccount: limits.total }, () => 0);
  const callers = new CallerLimit(Math.ceil(limits.total / 2));
  const own = [where.address, ...(where.names ?? [])];
  const site = new SameSite(own, where.tls?.cert ?? null, 'Connect by the address that carrel status shows.');
  const opened = new OpenPort(parts, { connections, callers }, site);
  const answer = (request: Request, bindings: object) => opened.answer(request, bindings as Bindings);
  const server = createPortServer(where, getRequestListener(answer, { overrideGlobalObjects: false }), times);
  server.on('upgrade', (request, socket, head) => void opened.upgrade(request, socket, head));
  connections.guard(server, where.tls ? 'secureConnection' : 'connection');
  server.maxConnections = limits.total;
  if (where.socket !== undefined) await listenPrivately(server, where.socket);
  else await bindPort(server, where, maxConnections);
  opened.origin = originOf(where, where.socket === undefined ? (server.address() as AddressInfo) : where);
  return {
    origin: opened.origin,
    stop: () => void server.close(),
    close: async () => {
      server.close();
      for (const handler of Object.values(parts.handlers)) await handler.close();
      server.closeAllConnections();
    },
  };
}

function originOf({ address, tls }: PortAddress, { port }: Pick<AddressInfo, 'port'>): string {
  return `${tls ? 'https' : 'http'}://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

interface Guards {
  readonly connections: Connections;
  readonly callers: CallerLimit;
}

class OpenPort {
  readonly #parts: PortParts;
  readonly #connections: Connections;
  readonly #callers: CallerLimit;
  readonly #site: SameSite;
  origin = '';

  constructor(parts: PortParts, { connections, callers }: Guards, site: SameSite) {
    this.#parts = parts;
    this.#connections = connections;
    this.#callers = callers;
    this.#site = site;
  }

  async answer(request: Request, { incoming, outgoing }: Bindings): Promise<Response> {
    try {
      const { pathname, origin } = new URL(request.url);
      const open = this.#parts.open?.find(({ path }) => pathname.startsWith(path));
      if (open !== undefined) return await this.#answerOpen(open, pathname.slice(open.path.length), incoming);
      this.#site.check(incoming.headers as { host?: string; origin?: string } as never);
      const handler = this.#handler(pathname);
      if (handler?.answer !== undefined) return await this.#answer(handler, request, incoming, outgoing);
      const document = this.#document(pathname, origin);
      if (document === null)
        throw new Fault('not_found', `there is nothing at ${pathname}`, { hint: this.#parts.hint });
      if (request.method !== 'GET') throw new Fault('invalid', `${pathname} answers GET only`);
      return Response.json(document);
    } catch (error) {
      return this.#refused(error, incoming);
    }
  }

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    try {
      this.#site.check(request.headers as never);
      const pathname = request.url?.split('?', 1)[0] ?? '';
      const handler = this.#handler(pathname);
      if (handler?.upgrade === undefined) throw new Fault('not_found', `there is no WebSocket at ${pathname}`);
      const identity = await this.#authenticated(request);
      this.#callers.take(identity.caller.name, socket);
      await handler.upgrade(request, socket, head, identity);
    } catch (error) {
      const fault = asFault(error);
      if (socket.writable) socket.end(refusalText(fault, this.#challenge(fault, request)));
    }
  }

  #handler(pathname: string): PortHandler | undefined {
    const { handlers } = this.#parts;
    return Object.hasOwn(handlers, pathname) ? handlers[pathname] : undefined;
  }

  async #answer(
    handler: PortHandler,
    request: Request,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<Response> {
    const identity = await this.#authenticated(incoming);
    const waitMs = this.#parts.rate.take(identity.caller.name);
    if (waitMs > 0) return tooFast(waitMs);
    this.#callers.take(identity.caller.name, outgoing);
    const ended = new Promise<void>((resolve) => outgoing.once('close', resolve));
    const drop = () => void outgoing.destroy();
    const { maxBodyBytes = 0 } = handler;
    const text = request.method === 'POST' ? await readText(incoming, maxBodyBytes) : undefined;
    if (text === null) return bodyTooLarge(maxBodyBytes);
    return handler.answer!({ request, identity, text, ended, drop });
  }

  async #answerOpen(handler: OpenHandler, name: string, incoming: IncomingMessage): Promise<Response> {
    const { maxBodyBytes } = handler;
    if (incoming.method !== 'POST') throw new Fault('invalid', 'this path takes POST only');
    if (Number(incoming.headers['content-length']) > maxBodyBytes) return bodyTooLarge(maxBodyBytes);
    const body = await firstBytes(incoming, maxBodyBytes + 1);
    if (body.length > maxBodyBytes) return bodyTooLarge(maxBodyBytes);
    const answer = await handler.answer(name, { headers: incoming.headers, body });
    this.#connections.authenticated(incoming.socket);
    return answer;
  }

  async #authenticated({ headers, headersDistinct, url = '/', socket }: IncomingMessage): Promise<ClientIdentity> {
    const { authorization } = headers;
    const caller = headersDistinct[callerHeader];
    const identity = await this.#parts.authentication.authenticate({ authorization, url, caller });
    this.#connections.authenticated(socket as Socket);
    return identity;
  }

  #document(path: string, origin: string): object | null {
    const { documents, authentication } = this.#parts;
    return Object.hasOwn(documents, path) ? documents[path]!() : authentication.document(path, origin);
  }

  /** Names the origin by the host name that the client used; a host name that was refused is not repeated. */
  #challenge(fault: Fault, { headers: { host } }: IncomingMessage): Record<string, string> {
    const value = this.#parts.authentication.challenge(fault, originBy(host, this.origin));
    return value === null ? {} : { 'WWW-Authenticate': value };
  }

  #refused(error: unknown, request: IncomingMessage): Response {
    const fault = asFault(error);
    return Response.json(fault, { status: faultTable[fault.code].http, headers: this.#challenge(fault, request) });
  }
}

/** The origin of this port with the client's host name, which must have been checked. */
function originBy(host: string | undefined, origin: string): string {
  const { protocol } = new URL(origin);
  return URL.canParse(`${protocol}//${host}`) ? new URL(`${protocol}//${host}`).origin : origin;
}

function tooFast(waitMs: number): Response {
  const fault = new Fault('unavailable', 'this token sends more requests than it may', {
    hint: 'Try again later; http.rate in config.yaml is the limit.',
  });
  const headers = { 'Retry-After': String(Math.ceil(waitMs / 1000)) };
  return Response.json(fault, { status: tooManyRequests, headers });
}

/** Null: the body is too large. It is read from the socket, because a web stream costs more than the rest of a short request. */
async function readText(incoming: IncomingMessage, maxBytes: number): Promise<string | null> {
  if (Number(incoming.headers['content-length']) > maxBytes) return null;
  return readJsonText(incoming, maxBytes);
}

/** The answer closes the connection, because the rest of the body is not read. */
function bodyTooLarge(mostBytes: number): Response {
  const fault = new Fault('invalid', `the request is larger than ${mostBytes} bytes`);
  return Response.json(fault, { status: tooLarge, headers: { Connection: 'close' } });
}
