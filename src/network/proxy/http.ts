/** HTTP as clients speak it to a proxy: CONNECT for tunnels, and whole URLs. Each request is decided by itself. */
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import { type Headers, valuesOf } from '../../lib/http-headers.ts';
import { endpointText } from '../../model/host.ts';
import { Refused } from '../lookup.ts';
import type { Forwarder } from '../network.ts';
import type { Attempt } from './attempt.ts';
import { type BadBody, type Body, bodyOf, ChunkedBody } from './body.ts';
import { endLines, readLines } from './intake.ts';
import { refusalText, refuse, refusedBy } from './refusal.ts';
import { counted, type Passing, pour } from './relay.ts';
import { endpoint, passedOn, type Wanted, wantedBy } from './request.ts';
import { takeTunnel } from './tunnel.ts';
import { checkUpgrade, passUpgrade } from './upgrade.ts';
import { farewell, type Visit } from './visit.ts';

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
    const answer = (refused: Refused) => farewell(socket, refusalText(refused));
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

  async #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const visit = this.#visits.get(socket)!;
    const attempt = visit.spare?.attempt ?? visit.attached.attempt('http');
    if (head.length > 0) socket.unshift(head);
    try {
      await visit.attached.turn();
      const wanted = wantedBy(request, visit.fixed);
      checkUpgrade(request);
      const upstream = await reach(visit, attempt, wanted);
      passUpgrade({ request, socket, wanted, upstream, attempt, attached: visit.attached });
    } catch (error) {
      const refused = refusedBy(error);
      attempt.refuse(request.url ?? '', refused);
      farewell(socket, refusalText(refused));
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
    farewell(socket, refusalText(refused));
  }
}

function dropSpare({ attempt, socket }: NonNullable<Visit['spare']>): void {
  socket.destroy();
  attempt.end();
}

async function reach(visit: Visit, attempt: Attempt, { target }: Wanted): Promise<Socket> {
  const { spare } = visit;
  visit.spare = null;
  const socket = spare && !spare.socket.destroyed ? spare.socket : await visit.attached.dial(attempt, target);
  if (!visit.socket.destroyed) return socket;
  socket.destroy();
  throw new Refused('unreachable', 'the client went away');
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
  attempt.holds(upstream, request.socket);
  readLines(upstream);
  const outgoing = send({
    createConnection: () => upstream,
    method: request.method ?? 'GET',
    path: wanted.path,
    headers: [...passedOn(request.rawHeaders), ...framing(request.rawHeaders)],
  });
  // An answer that has begun ends as it ends, whatever becomes of the rest of its request.
  outgoing.on('error', () => {
    if (!response.headersSent) stop(`${endpointText(wanted.target)} broke the connection off`);
  });
  outgoing.on('response', (incoming) => {
    try {
      response.sendDate = false;
      response.writeHead(incoming.statusCode!, incoming.statusMessage, passedOn(incoming.rawHeaders));
    } catch {
      stop(`${endpointText(wanted.target)} answers with what is no HTTP`);
      return;
    }
    passBody({ request, response, upstream, passing, incoming }, (error) => {
      upstream.destroy();
      attempt.end(error ? 'broken off' : null);
      if (error) response.destroy();
      else if (!request.readableEnded) dropRest(request, passing);
    });
  });
  response.on('close', () => {
    if (!response.writableFinished) stop('the client went away');
  });
  request.pipe(counted(passing, 'sent')).pipe(outgoing);
}

interface Answering extends Pick<Forwarding, 'request' | 'response' | 'upstream' | 'passing'> {
  readonly incoming: IncomingMessage;
}

/** As it comes, where it says how long it is: what reads a head costs much for each byte of a body. */
function passBody(answering: Answering, done: (error?: Error | null) => void): void {
  const { request, response, upstream, passing, incoming } = answering;
  const body = bodyOf(incoming, request.method!);
  const isNext = endLines(upstream);
  const isChunked = body instanceof ChunkedBody;
  // One that waits for an answer before it has no socket yet.
  if (isNext && body !== null && response.socket !== null && isChunked === response.chunkedEncoding) {
    incoming.on('error', () => {});
    response.flushHeaders();
    pourBody(answering, body, response.socket, done);
    return;
  }
  incoming.once('error', done);
  pipeline(incoming, counted(passing, 'received'), response, done);
}

function pourBody(
  { response, upstream, passing }: Answering,
  body: Body,
  client: Socket,
  done: (error?: Error | null) => void,
): void {
  const ended = () => {
    if (!body.isOver) done(new Error('the body is not whole'));
  };
  upstream.once('end', ended).once('close', ended);
  const shape = (chunk: Buffer): readonly Buffer[] => {
    try {
      const { pieces, bytes } = body.read(chunk);
      passing.onBytes(bytes, 'received');
      return pieces;
    } catch (error) {
      done(error as BadBody);
      return [];
    }
  };
  pour(upstream, client, passing.meter, shape, () => {
    if (!body.isOver) return;
    upstream.destroy();
    response.end(() => done());
  });
}

/** Of a request that was answered before its end. A client that still sends would not see the answer if it were cut off. */
function dropRest(request: IncomingMessage, passing: Passing): void {
  request.unpipe();
  request.pipe(counted(passing, 'sent')).resume();
}

function framing(rawHeaders: Headers): string[] {
  return valuesOf(rawHeaders, 'transfer-encoding').length > 0 ? ['Transfer-Encoding', 'chunked'] : [];
}
