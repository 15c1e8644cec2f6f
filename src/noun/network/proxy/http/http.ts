/**
 * HTTP proxy requests: CONNECT for tunnels, and whole URLs. The rules are checked for each request, and what passes is
 * written anew: its head (`request.ts`), its body (`body.ts`), or a WebSocket that it asks for (`upgrade.ts`).
 */
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import { type Headers, valuesOf } from '../../../../lib/wire/http-headers.ts';
import { endpointText } from '../../../../model/host.ts';
import type { Forwarder } from '../../credential/credential.ts';
import { RefusedAttempt } from '../../lookup.ts';
import type { Attempt } from '../attached/attempt.ts';
import { endWith, type Inbound } from '../front/inbound.ts';
import { counted, type Passing, relayBytes } from '../relay/relay.ts';
import { endLines, readLines } from '../relay/reused-buffer.ts';
import { takeTunnel } from '../tunnel/tunnel.ts';
import { type BadBody, type Body, bodyOf, ChunkedBody } from './body.ts';
import { refusalText, refuse, refusedBy } from './refusal.ts';
import { endpoint, type ForwardRequest, passedOn, wantedBy } from './request.ts';
import { checkUpgrade, passUpgrade } from './upgrade.ts';

const maxHeaderBytes = 64 * 1024;
const keepAliveMs = 60_000;

export class HttpFront {
  readonly #inbound = new WeakMap<Duplex, Inbound>();
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

  /** Serves the connection from now on. */
  take(inbound: Inbound): void {
    const { spare } = inbound;
    if (spare) inbound.socket.once('close', () => inbound.spare && dropSpare(spare));
    this.#inbound.set(inbound.socket, inbound);
    this.#server.emit('connection', inbound.socket);
    inbound.socket.setTimeout(inbound.attached.attachment.limits.idleMs);
  }

  async #tunnel(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const inbound = this.#inbound.get(socket)!;
    const text = request.url ?? '';
    if (head.length > 0) socket.unshift(head);
    const answer = (refused: RefusedAttempt) => endWith(socket, refusalText(refused));
    if (inbound.fixed) {
      const attempt = inbound.attached.attempt('connect');
      const refused = new RefusedAttempt('bad_request', 'a tunnel inside a tunnel');
      attempt.refuse(text, refused);
      answer(refused);
      return;
    }
    await takeTunnel({
      inbound,
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
    const inbound = this.#inbound.get(request.socket)!;
    const attempt = inbound.spare?.attempt ?? inbound.attached.attempt('http');
    try {
      await inbound.attached.turn();
      const wanted = wantedBy(request, inbound.fixed);
      const upstream = await reach(inbound, attempt, wanted);
      try {
        forward({ request, response, wanted, upstream, attempt, passing: inbound.attached.passing(attempt) });
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
    const inbound = this.#inbound.get(socket)!;
    const attempt = inbound.spare?.attempt ?? inbound.attached.attempt('http');
    if (head.length > 0) socket.unshift(head);
    try {
      await inbound.attached.turn();
      const wanted = wantedBy(request, inbound.fixed);
      checkUpgrade(request);
      const upstream = await reach(inbound, attempt, wanted);
      passUpgrade({ request, socket, wanted, upstream, attempt, attached: inbound.attached });
    } catch (error) {
      const refused = refusedBy(error);
      attempt.refuse(request.url ?? '', refused);
      endWith(socket, refusalText(refused));
    }
  }

  #malformed({ code }: { code?: string }, socket: Socket): void {
    const inbound = this.#inbound.get(socket);
    if (code === 'ECONNRESET' || !inbound || !socket.writable) {
      socket.destroy();
      return;
    }
    const refused = new RefusedAttempt('bad_request', `the request is malformed (${code})`);
    inbound.attached.attempt('http').refuse('', refused);
    endWith(socket, refusalText(refused));
  }
}

function dropSpare({ attempt, socket }: NonNullable<Inbound['spare']>): void {
  socket.destroy();
  attempt.end();
}

async function reach(inbound: Inbound, attempt: Attempt, { target }: ForwardRequest): Promise<Socket> {
  const { spare } = inbound;
  inbound.spare = null;
  const socket = spare && !spare.socket.destroyed ? spare.socket : await inbound.attached.dial(attempt, target);
  if (!inbound.socket.destroyed) return socket;
  socket.destroy();
  throw new RefusedAttempt('unreachable', 'the client disconnected');
}

interface Forwarding {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly wanted: ForwardRequest;
  readonly upstream: Socket;
  readonly attempt: Attempt;
  readonly passing: Passing;
}

function forward({ request, response, wanted, upstream, attempt, passing }: Forwarding): void {
  const stop = (reason: string) => {
    upstream.destroy();
    attempt.end(reason);
    if (response.headersSent) response.destroy();
    else refuse(response, new RefusedAttempt('unreachable', reason));
  };
  attempt.holds(upstream, request.socket);
  readLines(upstream);
  const outgoing = send({
    createConnection: () => upstream,
    method: request.method ?? 'GET',
    path: wanted.path,
    headers: [...passedOn(request.rawHeaders), ...framing(request.rawHeaders)],
  });
  // A response that has begun continues, even if the rest of the request cannot be sent.
  outgoing.on('error', () => {
    if (!response.headersSent) stop(`${endpointText(wanted.target)} closed the connection`);
  });
  outgoing.on('response', (incoming) => {
    try {
      response.sendDate = false;
      response.writeHead(incoming.statusCode!, incoming.statusMessage, passedOn(incoming.rawHeaders));
    } catch {
      stop(`the answer of ${endpointText(wanted.target)} is not HTTP`);
      return;
    }
    passBody({ request, response, upstream, passing, incoming }, (error) => {
      upstream.destroy();
      attempt.end(error ? 'the answer was cut off' : null);
      if (error) response.destroy();
      else if (!request.readableEnded) dropRest(request, passing);
    });
  });
  response.on('close', () => {
    if (!response.writableFinished) stop('the client disconnected');
  });
  request.pipe(counted(passing, 'sent')).pipe(outgoing);
}

interface Answering extends Pick<Forwarding, 'request' | 'response' | 'upstream' | 'passing'> {
  readonly incoming: IncomingMessage;
}

/** Passes a body with a known end without the HTTP parser, which costs much for each byte. */
function passBody(answering: Answering, done: (error?: Error | null) => void): void {
  const { request, response, upstream, passing, incoming } = answering;
  const body = bodyOf(incoming, request.method!);
  const isNext = endLines(upstream);
  const isChunked = body instanceof ChunkedBody;
  // A response that waits for an earlier one has no socket yet.
  if (isNext && body !== null && response.socket !== null && isChunked === response.chunkedEncoding) {
    incoming.on('error', () => {});
    response.flushHeaders();
    relayBody(answering, body, response.socket, done);
    return;
  }
  incoming.once('error', done);
  pipeline(incoming, counted(passing, 'received'), response, done);
}

function relayBody(
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
  relayBytes(upstream, client, passing.meter, shape, () => {
    if (!body.isOver) return;
    upstream.destroy();
    response.end(() => done());
  });
}

/**
 * Drops the rest of a request that was answered early. A reset would make a client that is still sending lose the
 * answer.
 */
function dropRest(request: IncomingMessage, passing: Passing): void {
  request.unpipe();
  request.pipe(counted(passing, 'sent')).resume();
}

function framing(rawHeaders: Headers): string[] {
  return valuesOf(rawHeaders, 'transfer-encoding').length > 0 ? ['Transfer-Encoding', 'chunked'] : [];
}
