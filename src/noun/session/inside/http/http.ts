/**
 * The HTTP of the agent API, on loopback inside the sandbox. A request passes in this order: Host and Origin, token, rate, path, body. Every
 * size and time is limited. The settings are read at each request, so tokens can change while it serves.
 */
import { setMaxListeners } from 'node:events';
import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Connections } from '../../../../lib/wire/connections.ts';
import { Fault } from '../../../../model/fault.ts';
import type { ApiSettings } from '../../model/settings.ts';
import type { AgentSessions } from '../inside.ts';
import { AcpConnections } from './acp/acp.ts';
import { chatRoutes } from './chat/chat.ts';
import { allowOrigin, Guard } from './guard.ts';
import { type ApiLimits, apiLimits } from './limit.ts';
import { faultOf, sendFault, sendWhole } from './reply.ts';
import { Routes } from './route.ts';
import { hostRoutes, sessionRoutes } from './session-routes.ts';
import { EventStreams } from './streams.ts';

const address = '127.0.0.1';
const maxHeaderSize = 32 * 1024;
/** The kernel of a client beyond the backlog tries again after a second. */
const maxBacklog = 4096;

/** Resolves when the server listens. To end it: `close` and `closeAllConnections`. */
export async function serveSessions(
  sessions: AgentSessions,
  settings: ApiSettings,
  port: number,
  limits = apiLimits(),
): Promise<Server> {
  const connections = new Connections(limits.connections, () => 0);
  const api = new Api(sessions, settings, limits, connections);
  const server = http.createServer(
    {
      maxHeaderSize,
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: limits.checkMs,
      keepAliveTimeout: limits.idleMs,
    },
    (request, response) => void api.answer(request, response),
  );
  connections.guard(server);
  server.on('close', () => api.dispose());
  await listening(server, port);
  return server;
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) =>
      reject(new Fault('unavailable', `cannot listen on ${address}:${port}: ${error.message}`, { cause: error }));
    server.once('error', failed);
    server.listen({ port, host: address, backlog: maxBacklog }, () => {
      server.off('error', failed);
      resolve();
    });
  });
}

class Api {
  readonly #sessions: AgentSessions;
  readonly #settings: ApiSettings;
  readonly #limits: ApiLimits;
  readonly #guard: Guard;
  readonly #streams: EventStreams;
  readonly #acp: AcpConnections;
  readonly #routes: Routes;
  readonly #daemonRoutes: Routes;

  constructor(sessions: AgentSessions, settings: ApiSettings, limits: ApiLimits, connections: Connections) {
    this.#sessions = sessions;
    this.#settings = settings;
    this.#limits = limits;
    this.#guard = new Guard(settings, connections, limits);
    this.#streams = new EventStreams(limits);
    this.#acp = new AcpConnections(sessions);
    const table = { ...sessionRoutes, ...chatRoutes, ...this.#acp.routes };
    this.#routes = new Routes(table);
    this.#daemonRoutes = new Routes({ ...table, ...hostRoutes });
  }

  dispose(): void {
    this.#streams.dispose();
    this.#acp.dispose();
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => response.destroy());
    try {
      const [path = '', ...search] = (request.url ?? '').split('?');
      const query = new URLSearchParams(search.join('?'));
      this.#guard.checkSite(request);
      if (allowOrigin(request, response)) return;
      const { isDaemon, isStillValid } = this.#guard.admit(request, query);
      const routes = isDaemon ? this.#daemonRoutes : this.#routes;
      const { handle, params } = routes.find(request.method ?? '', path);
      const reply = await handle({ ...this.#common, request, params, query, signal: goneSignal(response) });
      if ('pieces' in reply) await this.#streams.send(response, reply, isStillValid);
      else sendWhole(response, reply);
    } catch (error) {
      if (response.headersSent || response.destroyed) response.destroy();
      else sendFault(response, faultOf(error));
    }
  }

  get #common() {
    return { sessions: this.#sessions, settings: this.#settings, limits: this.#limits };
  }
}

function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  // A stream adds one listener for each session that it follows.
  setMaxListeners(0, gone.signal);
  response.once('close', () => gone.abort());
  return gone.signal;
}
