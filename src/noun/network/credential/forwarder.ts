/**
 * The forwarder: sends each request of a client to the target with the header added, and passes the response back. See
 * `credential.ts` for what it promises.
 */
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Duplex, pipeline } from 'node:stream';
import { asFault, Fault } from '../../../model/fault.ts';
import { defaultNetworkLimits } from '../model/network.ts';
import type { CredentialCall, Forwarder } from './credential.ts';
import { echoIn, responseHeaders } from './headers.ts';
import { Interception } from './interception.ts';
import { outgoing } from './outgoing.ts';
import { refuse, refuseOn } from './refusal.ts';
import { passUpgrade } from './upgrade.ts';
import { UpstreamAgent } from './upstream.ts';

const maxHeaderBytes = 64 * 1024;
/** Longer than clients keep a connection open for its next request. */
const keepAliveMs = 120_000;
/** The maximum of pipelined requests of one connection. Each takes memory until its turn. */
const maxAtOnce = 32;

interface Connection {
  readonly call: CredentialCall;
  readonly agent: UpstreamAgent;
  /** Requests that have no response yet. */
  open: number;
}

export function createForwarder(): Forwarder {
  const connections = new WeakMap<Duplex, Connection>();
  const interception = new Interception();
  const server = createServer(
    { maxHeaderSize: maxHeaderBytes, keepAliveTimeout: keepAliveMs, requestTimeout: 0 },
    (request, response) => {
      const connection = connections.get(request.socket);
      if (connection && count(connection, response) <= maxAtOnce) forward(connection, request, response);
      else request.socket.destroy();
    },
  );
  server.timeout = defaultNetworkLimits.idleMs;
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const connection = connections.get(socket);
    if (!connection) return;
    const order = outgoing(connection.call, request);
    if (order instanceof Fault) refuseOn(socket, 400, order);
    else passUpgrade(connection.call, order, { request, socket, head });
  });
  return {
    answer(call) {
      const { socket, credential, endpoint } = call;
      // An error without a listener would end the proxy; the close event is handled.
      socket.on('error', () => {});
      socket.setNoDelay();
      const client = endpoint === null || credential === null ? socket : interception.open(socket, credential);
      client.on('error', () => client.destroy());
      connections.set(client, { call, agent: new UpstreamAgent(call), open: 0 });
      server.emit('connection', client);
      // The client is paused until now, so that no byte is lost before there are listeners.
      client.resume();
    },
  };
}

function count(connection: Connection, response: ServerResponse): number {
  response.once('close', () => {
    connection.open -= 1;
  });
  connection.open += 1;
  return connection.open;
}

function forward({ call, agent }: Connection, request: IncomingMessage, response: ServerResponse): void {
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
      // The rest of an answered request is dropped; Node would wait for its end for ever.
      request.unpipe();
      request.resume();
      upstream.destroy();
    });
  });
  upstream.on('error', (error) => {
    // A response that has begun ends with its own stream.
    if (!response.headersSent) refuse(request, response, 502, asFault(error));
  });
  response.once('close', () => {
    if (!response.writableFinished) upstream.destroy();
  });
  request.once('error', () => upstream.destroy());
  request.pipe(call.counted('sent')).pipe(upstream);
}

/** Sends the head of the response at once, before a body comes. Returns a Fault if Node refuses to write it. */
function begin(
  { target }: CredentialCall,
  response: ServerResponse,
  { statusCode, statusMessage, rawHeaders }: IncomingMessage,
): Fault | null {
  try {
    response.writeHead(statusCode!, statusMessage, responseHeaders(rawHeaders));
    response.flushHeaders();
    return null;
  } catch (error) {
    return new Fault('unavailable', `${target.host} did not answer with valid HTTP`, { cause: error });
  }
}
