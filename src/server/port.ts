/**
 * The TCP port of the daemon: `GET /health`, the public documents of authentication, MCP at `/mcp`, and webhooks below
 * `/hooks/`. The port checks a request in this order: Host and Origin, path, token, rate, body. Webhooks are
 * authenticated by their body instead, because they come from other sites through proxies. Every size and time is
 * limited. Off loopback the port speaks only TLS.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import type { Authentication, Identity } from '../hub/authentication.ts';
import type { Exchange } from '../hub/exchange.ts';
import { readJsonText } from '../lib/bounded-json.ts';
import { firstBytes } from '../lib/collect.ts';
import { Connections, limitsFor } from '../lib/connections.ts';
import { listenPrivately } from '../lib/private-socket.ts';
import { maxDescriptors } from '../lib/process.ts';
import type { Rate } from '../lib/rate.ts';
import { refusalText } from '../lib/refusal.ts';
import { SameSite } from '../lib/same-site.ts';
import { asFault, Fault, faultTable } from '../model/fault.ts';
import { callerHeader } from '../model/service.ts';
import { spokeUrlPath } from '../model/spoke.ts';
import { CallerLimit } from './caller-limit.ts';
import { bindPort, createPortServer, type PortAddress, portTimes } from './port-server.ts';

export interface PortParts {
  readonly authentication: Authentication;
  readonly rate: Pick<Rate, 'take'>;
  health(): object;
  readonly mcp: {
    answer(exchange: Exchange): Promise<Response>;
    upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, identity: Identity): Promise<void>;
    close(): Promise<void>;
  };
  /** Spokes in other containers or machines; null: none may connect. */
  readonly spokes: null | {
    accept(request: IncomingMessage, socket: Duplex, head: Buffer, identity: Identity): Promise<void>;
    close(): void;
  };
  /** Webhooks; null: there are none. */
  readonly hooks: null | { answer(name: string, request: HookRequest): Promise<Response> };
}

/** The part of a webhook's request that the port passes on. */
export interface HookRequest {
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

export const mcpPath = '/mcp';
const hooksPath = '/hooks/';
export const maxBodyBytes = 8 * 1024 * 1024;
const maxHookBytes = 256 * 1024;
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
      await parts.mcp.close();
      parts.spokes?.close();
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
      if (pathname.startsWith(hooksPath)) return await this.#hook(pathname.slice(hooksPath.length), incoming);
      this.#site.check(incoming.headers as { host?: string; origin?: string } as never);
      if (pathname === mcpPath) return await this.#mcp(request, incoming, outgoing);
      const document = pathname === '/health' ? this.#parts.health() : this.#document(pathname, origin);
      if (document === null)
        throw new Fault('not_found', `there is nothing at ${pathname}`, { hint: `MCP is at ${mcpPath}.` });
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
      if (pathname !== mcpPath && (pathname !== spokeUrlPath || this.#parts.spokes === null))
        throw new Fault('not_found', `there is no WebSocket at ${pathname}`);
      const identity = await this.#authenticated(request);
      this.#callers.take(identity.caller.name, socket);
      if (pathname === mcpPath) await this.#parts.mcp.upgrade(request, socket, head, identity);
      else await this.#parts.spokes!.accept(request, socket, head, identity);
    } catch (error) {
      const fault = asFault(error);
      if (socket.writable) socket.end(refusalText(fault, this.#challenge(fault, request)));
    }
  }

  async #mcp(request: Request, incoming: IncomingMessage, outgoing: ServerResponse): Promise<Response> {
    const identity = await this.#authenticated(incoming);
    const waitMs = this.#parts.rate.take(identity.caller.name);
    if (waitMs > 0) return tooFast(waitMs);
    this.#callers.take(identity.caller.name, outgoing);
    const ended = new Promise<void>((resolve) => outgoing.once('close', resolve));
    const drop = () => void outgoing.destroy();
    if (request.method !== 'POST') return this.#parts.mcp.answer({ request, identity, body: undefined, ended, drop });
    const read = await readBody(incoming);
    if (read instanceof Response) return read;
    return this.#parts.mcp.answer({ request, identity, body: read.body, ended, drop });
  }

  async #hook(name: string, incoming: IncomingMessage): Promise<Response> {
    if (this.#parts.hooks === null) throw new Fault('not_found', 'there is no such webhook');
    if (incoming.method !== 'POST') throw new Fault('invalid', 'a webhook takes POST only');
    if (Number(incoming.headers['content-length']) > maxHookBytes) return bodyTooLarge(maxHookBytes);
    const body = await firstBytes(incoming, maxHookBytes + 1);
    if (body.length > maxHookBytes) return bodyTooLarge(maxHookBytes);
    const answer = await this.#parts.hooks.answer(name, { headers: incoming.headers, body });
    this.#connections.authenticated(incoming.socket);
    return answer;
  }

  async #authenticated({ headers, headersDistinct, url = '/', socket }: IncomingMessage): Promise<Identity> {
    const { authorization } = headers;
    const caller = headersDistinct[callerHeader];
    const identity = await this.#parts.authentication.authenticate({ authorization, url, caller });
    this.#connections.authenticated(socket as Socket);
    return identity;
  }

  #document(path: string, origin: string): object | null {
    return this.#parts.authentication.document(path, origin);
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

async function readBody(incoming: IncomingMessage): Promise<{ readonly body: unknown } | Response> {
  if (Number(incoming.headers['content-length']) > maxBodyBytes) return bodyTooLarge(maxBodyBytes);
  // The body is read from the socket, because a web stream costs more than the rest of a short request.
  const text = await readJsonText(incoming, maxBodyBytes);
  if (text === null) return bodyTooLarge(maxBodyBytes);
  try {
    return { body: JSON.parse(text) };
  } catch {
    const error = { code: -32700, message: 'Parse error: the body is not JSON' };
    return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 400 });
  }
}

/** The answer closes the connection, because the rest of the body is not read. */
function bodyTooLarge(mostBytes: number): Response {
  const fault = new Fault('invalid', `the request is larger than ${mostBytes} bytes`);
  return Response.json(fault, { status: tooLarge, headers: { Connection: 'close' } });
}
