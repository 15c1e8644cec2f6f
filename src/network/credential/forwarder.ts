/**
 * Answers calls for credentials: each request of a client goes to the host of the credential, with the header added, and
 * the response comes back as it is. Nothing is kept: bodies flow both ways at the pace of the slower side, the first byte
 * of a response is passed on when it comes, and when one side goes away the other one is told. Redirects are the
 * client's to follow: with what it has, which is nothing.
 *
 * What a client could make a server read differently than we do is refused: by the parser of Node, which is strict, and
 * because every request is written anew.
 */
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Duplex, pipeline } from 'node:stream';
import { asFault, Fault } from '../../model/fault.ts';
import { hostText, parseEndpoint, parseHost } from '../../model/host.ts';
import { defaultNetworkLimits } from '../../model/network.ts';
import type { Call, Credential, Forwarder } from '../network.ts';
import { requestHeaders, responseHeaders } from './headers.ts';
import { Interception } from './interception.ts';
import { refuse, refuseOn } from './refusal.ts';
import { passUpgrade } from './upgrade.ts';
import { Upstream } from './upstream.ts';

const maxHeaderBytes = 64 * 1024;
/** Longer than clients keep a connection for its next request. */
const keepAliveMs = 120_000;

interface Line {
  readonly call: Call;
  readonly agent: Upstream;
}

export function createForwarder(): Forwarder {
  const lines = new WeakMap<Duplex, Line>();
  const interception = new Interception();
  const server = createServer(
    { maxHeaderSize: maxHeaderBytes, keepAliveTimeout: keepAliveMs, requestTimeout: 0 },
    (request, response) => {
      const line = lines.get(request.socket);
      if (line) forward(line, request, response);
    },
  );
  server.timeout = defaultNetworkLimits.idleMs;
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const line = lines.get(socket);
    if (!line) return;
    const order = outgoing(line.call, request);
    if (order instanceof Fault) refuseOn(socket, 400, order);
    else passUpgrade(line.call, order, { request, socket, head });
  });
  return {
    answer(call) {
      const { socket } = call;
      // Without a listener an error of a socket would end the proxy; its close is what counts.
      socket.on('error', () => {});
      socket.setNoDelay();
      const client = call.asked === null ? socket : interception.open(call);
      client.on('error', () => client.destroy());
      lines.set(client, { call, agent: new Upstream(call) });
      server.emit('connection', client);
      // It comes paused, so that nothing is lost before somebody listens.
      client.resume();
    },
  };
}

/** A request as it goes to the host. */
export interface Outgoing {
  readonly method: string;
  readonly path: string;
  readonly headers: string[];
}

function forward({ call, agent }: Line, request: IncomingMessage, response: ServerResponse): void {
  const order = outgoing(call, request);
  if (order instanceof Fault) {
    refuse(request, response, 400, order);
    return;
  }
  response.sendDate = false;
  const upstream = httpRequest({ ...order, agent, setHost: false });
  upstream.once('response', (answer) => {
    response.writeHead(answer.statusCode!, answer.statusMessage, responseHeaders(answer.rawHeaders));
    response.flushHeaders();
    pipeline(answer, call.counted('received'), response, () => {
      if (upstream.writableFinished) return;
      // Nobody wants the rest of a request that was answered, and Node would wait for its end for ever.
      request.unpipe();
      request.resume();
      upstream.destroy();
    });
  });
  upstream.on('error', (error) => {
    // A response that came is whole, or ends as its own stream does.
    if (!response.headersSent) refuse(request, response, 502, asFault(error));
  });
  response.once('close', () => {
    if (!response.writableFinished) upstream.destroy();
  });
  request.once('error', () => upstream.destroy());
  request.pipe(call.counted('sent')).pipe(upstream);
}

/** A Fault where it is not for us to pass on. */
function outgoing({ credential, asked }: Call, request: IncomingMessage): Outgoing | Fault {
  const { method = '', url = '', rawHeaders } = request;
  const { host: hostHeader = '' } = request.headers;
  if (!/^\/[\x21-\x7e]*$|^\*$/.test(url)) return new Fault('invalid', 'a request names a path here and nothing else');
  if (asked !== null && !isFor(hostHeader, credential)) {
    return new Fault('invalid', `this connection is for ${credential.host} alone`);
  }
  const headers = requestHeaders(rawHeaders, { ...credential, host: authority(credential) });
  return { method, path: url, headers: [...headers, ...framing(request)] };
}

function isFor(text: string, { host, port }: Credential): boolean {
  try {
    const named = parseEndpoint(text, port);
    return named.host.text === host && named.port === port;
  } catch {
    return false;
  }
}

function authority({ host, port }: Credential): string {
  const text = hostText(parseHost(host));
  return port === 443 ? text : `${text}:${port}`;
}

/** Content-Length has been passed on; a request with neither has no body, which some servers want to be told. */
function framing({ headers, method = '' }: IncomingMessage): string[] {
  if (headers['transfer-encoding'] !== undefined) return ['transfer-encoding', 'chunked'];
  const usuallyHas = ['POST', 'PUT', 'PATCH'].includes(method);
  return usuallyHas && headers['content-length'] === undefined ? ['content-length', '0'] : [];
}
