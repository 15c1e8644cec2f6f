/** HTTP as clients speak it to a proxy: CONNECT for tunnels, and whole URLs. Each request is decided by itself. */
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES, request as send } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import { endpointText } from '../../model/host.ts';
import { Refused } from '../lookup.ts';
import type { Forwarder } from '../network.ts';
import type { Attempt } from './attempt.ts';
import { counted, type Passing } from './relay.ts';
import { endpoint, passedOn, valuesOf, type Wanted, wantedBy } from './request.ts';
import { takeTunnel } from './tunnel.ts';
import type { Visit } from './visit.ts';

const maxHeaderBytes = 64 * 1024;
const keepAliveMs = 60_000;

export class HttpFront {
  readonly #visits = new WeakMap<Duplex, Visit>();
  readonly #server = createServer({
    maxHeaderSize: maxHeaderBytes,
    keepAliveTimeout: keepAliveMs,
    requestTimeout: 0,
    insecureHTTPParser: false,
    requireHostHeader: false,
  });

  readonly #forwarder: Forwarder;

  constructor(forwarder: Forwarder) {
    this.#forwarder = forwarder;
    this.#server.on('connect', (request, socket, head) => void this.#tunnel(request, socket as Socket, head));
    this.#server.on('request', (request, response) => void this.#pass(request, response));
    this.#server.on('upgrade', (request, socket, head) => void this.#upgrade(request, socket as Socket, head));
    this.#server.on('clientError', (error: Error & { code?: string }, socket) =>
      this.#malformed(error, socket as Socket),
    );
  }

  /** From now on the connection is ours. */
  take(visit: Visit): void {
    const { spare } = visit;
    if (spare) visit.socket.once('close', () => visit.spare && dropSpare(spare));
    this.#visits.set(visit.socket, visit);
    this.#server.emit('connection', visit.socket);
    visit.socket.setTimeout(visit.attached.attachment.limits.idleMs);
  }

  async #tunnel(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const visit = this.#visits.get(socket)!;
    const text = request.url ?? '';
    if (head.length > 0) socket.unshift(head);
    const answer = (refused: Refused) => socket.end(refusalText(refused));
    if (visit.fixed) {
      const attempt = visit.attached.attempt('connect');
      const refused = new Refused('bad_request', 'a tunnel inside a tunnel');
      attempt.refuse(text, refused);
      answer(refused);
      return;
    }
    await takeTunnel({
      visit,
      via: 'connect',
      text: () => text,
      read: async () => endpoint(text, null),
      accept: () => void socket.write('HTTP/1.1 200 Connection established\r\n\r\n'),
      answer,
      http: this,
      forwarder: this.#forwarder,
    });
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const visit = this.#visits.get(request.socket)!;
    const attempt = visit.spare?.attempt ?? visit.attached.attempt('http');
    try {
      await visit.attached.turn();
      const wanted = wantedBy(request, visit.fixed);
      const upstream = await reach(visit, attempt, wanted);
      try {
        forward({ request, response, wanted, upstream, attempt, passing: visit.attached.passing(attempt) });
      } catch (error) {
        upstream.destroy();
        throw error;
      }
    } catch (error) {
      const refused = refusedBy(error);
      attempt.refuse(request.url ?? '', refused);
      refuse(response, refused);
    }
  }

  /** A WebSocket, and no other protocol: that of a proxy in front of us would be one more way to hide requests. */
  async #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const visit = this.#visits.get(socket)!;
    const attempt = visit.spare?.attempt ?? visit.attached.attempt('http');
    if (head.length > 0) socket.unshift(head);
    try {
      await visit.attached.turn();
      const wanted = wantedBy(request, visit.fixed);
      const protocol = valuesOf(request.rawHeaders, 'upgrade').join();
      if (protocol.toLowerCase() !== 'websocket') throw new Refused('bad_request', 'only WebSockets are upgraded to');
      const upstream = await reach(visit, attempt, wanted);
      const head = [`${request.method} ${wanted.path} HTTP/1.1`, ...lines(passedOn(request.rawHeaders))];
      upstream.write(`${head.join('\r\n')}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
      visit.attached.connect(attempt, socket, upstream);
    } catch (error) {
      const refused = refusedBy(error);
      attempt.refuse(request.url ?? '', refused);
      socket.end(refusalText(refused));
    }
  }

  #malformed({ code }: { code?: string }, socket: Socket): void {
    const visit = this.#visits.get(socket);
    if (code === 'ECONNRESET' || !visit || !socket.writable) {
      socket.destroy();
      return;
    }
    const refused = new Refused('bad_request', `the request is malformed (${code})`);
    visit.attached.attempt('http').refuse('', refused);
    socket.end(refusalText(refused));
  }
}

function dropSpare({ attempt, socket }: NonNullable<Visit['spare']>): void {
  socket.destroy();
  attempt.end();
}

async function reach(visit: Visit, attempt: Attempt, { target }: Wanted): Promise<Socket> {
  const { spare } = visit;
  visit.spare = null;
  if (spare && !spare.socket.destroyed) return spare.socket;
  return visit.attached.dial(attempt, target);
}

interface Forwarding {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly wanted: Wanted;
  readonly upstream: Socket;
  readonly attempt: Attempt;
  readonly passing: Passing;
}

function forward({ request, response, wanted, upstream, attempt, passing }: Forwarding): void {
  const stop = (reason: string) => {
    upstream.destroy();
    attempt.end(reason);
    if (response.headersSent) response.destroy();
    else refuse(response, new Refused('unreachable', reason));
  };
  attempt.cut = () => {
    upstream.destroy();
    request.socket.destroy();
  };
  const outgoing = send({
    createConnection: () => upstream,
    method: request.method ?? 'GET',
    path: wanted.path,
    headers: [...passedOn(request.rawHeaders), ...framing(request.rawHeaders)],
  });
  outgoing.on('error', () => stop(`${endpointText(wanted.target)} broke the connection off`));
  outgoing.on('response', (incoming) => {
    try {
      response.sendDate = false;
      response.writeHead(incoming.statusCode!, incoming.statusMessage, passedOn(incoming.rawHeaders));
    } catch {
      stop(`${endpointText(wanted.target)} answers with what is no HTTP`);
      return;
    }
    pipeline(incoming, counted(passing, 'received'), response, (error) => {
      upstream.destroy();
      attempt.end(error ? 'broken off' : null);
    });
  });
  response.on('close', () => {
    if (!response.writableFinished) stop('the client went away');
  });
  pipeline(request, counted(passing, 'sent'), outgoing, () => {});
}

function framing(rawHeaders: readonly string[]): string[] {
  return valuesOf(rawHeaders, 'transfer-encoding').length > 0 ? ['Transfer-Encoding', 'chunked'] : [];
}

function refusedBy(error: unknown): Refused {
  return error instanceof Refused ? error : new Refused('unreachable', `it failed (${(error as Error).message})`);
}

const statuses: Partial<Record<Refused['refusal'], number>> = {
  bad_request: 400,
  limit: 429,
  timeout: 504,
  unreachable: 502,
  unknown_name: 502,
};

function statusOf({ refusal }: Refused): number {
  return statuses[refusal] ?? 403;
}

function bodyOf(refused: Refused): string {
  return `carrel: ${refused.message}\n`;
}

function refuse(response: ServerResponse, refused: Refused): void {
  const body = bodyOf(refused);
  const length = Buffer.byteLength(body);
  response.writeHead(statusOf(refused), {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': length,
    Connection: 'close',
  });
  response.end(body);
}

function refusalText(refused: Refused): string {
  const body = bodyOf(refused);
  const status = statusOf(refused);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

function lines(headers: readonly string[]): string[] {
  return Array.from({ length: headers.length / 2 }, (_, at) => `${headers[at * 2]}: ${headers[at * 2 + 1]}`);
}
