/**
 * Answers calls: each request of a client goes to the target, the host of a credential say, with the header added, and
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
import { defaultNetworkLimits } from '../../model/network.ts';
import type { Call, Forwarder } from '../network.ts';
import { echoIn, responseHeaders } from './headers.ts';
import { Interception } from './interception.ts';
import { outgoing } from './outgoing.ts';
import { refuse, refuseOn } from './refusal.ts';
import { passUpgrade } from './upgrade.ts';
import { Upstream } from './upstream.ts';

const maxHeaderBytes = 64 * 1024;
/** Longer than clients keep a connection for its next request. */
const keepAliveMs = 120_000;
/** Sent one after the other without waiting. Each takes memory here until its turn comes. */
const maxAtOnce = 32;

interface Line {
  readonly call: Call;
  readonly agent: Upstream;
  /** Requests that have no response yet. */
  open: number;
}

export function createForwarder(): Forwarder {
  const lines = new WeakMap<Duplex, Line>();
  const interception = new Interception();
  const server = createServer(
    { maxHeaderSize: maxHeaderBytes, keepAliveTimeout: keepAliveMs, requestTimeout: 0 },
    (request, response) => {
      const line = lines.get(request.socket);
      if (line && count(line, response) <= maxAtOnce) forward(line, request, response);
      else request.socket.destroy();
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
      const { socket, credential, asked } = call;
      // Without a listener an error of a socket would end the proxy; its close is what counts.
      socket.on('error', () => {});
      socket.setNoDelay();
      const client = asked === null || credential === null ? socket : interception.open(socket, credential);
      client.on('error', () => client.destroy());
      lines.set(client, { call, agent: new Upstream(call), open: 0 });
      server.emit('connection', client);
      // It comes paused, so that nothing is lost before somebody listens.
      client.resume();
    },
  };
}

function count(line: Line, response: ServerResponse): number {
  response.once('close', () => {
    line.open -= 1;
  });
  line.open += 1;
  return line.open;
}

function forward({ call, agent }: Line, request: IncomingMessage, response: ServerResponse): void {
  const order = outgoing(call, request);
  if (order instanceof Fault) {
    refuse(request, response, 400, order);
    return;
  }
  response.sendDate = false;
  const upstream = httpRequest({ ...order, agent, setHost: false, maxHeaderSize: maxHeaderBytes });
  upstream.once('response', (answer) => {
    const fault = echoIn(call, answer) ?? begin(call, response, answer);
    if (fault) {
      upstream.destroy(fault);
      return;
    }
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

/** At once, before there is a body. A Fault where Node does not write what it read. */
function begin(
  { target }: Call,
  response: ServerResponse,
  { statusCode, statusMessage, rawHeaders }: IncomingMessage,
): Fault | null {
  try {
    response.writeHead(statusCode!, statusMessage, responseHeaders(rawHeaders));
    response.flushHeaders();
    return null;
  } catch (error) {
    return new Fault('unavailable', `${target.host} answered with what is no HTTP`, { cause: error });
  }
}
