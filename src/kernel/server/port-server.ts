/** The HTTP or HTTPS server of the port, with its limits of time and of the size of headers. */
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import { Fault } from '../../model/fault.ts';

export interface PortAddress {
  readonly port: number;
  readonly address: string;
  /** The contents of the PEM files. */
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | null;
  /** Host names of the port besides its address and the names in the certificate. */
  readonly names?: readonly string[];
  /**
   * The server listens at this unix socket instead. The proxy connects to it, and has the port and address in each
   * sandbox.
   */
  readonly socket?: string;
}

/** Time limits: for the headers, for a whole request, and for an idle connection. */
export interface PortTimes {
  readonly headersMs: number;
  readonly requestMs: number;
  readonly idleMs: number;
  /** How often `headersMs` and `requestMs` are checked. */
  readonly checkMs: number;
}

export const portTimes: PortTimes = { headersMs: 10_000, requestMs: 60_000, idleMs: 60_000, checkMs: 2000 };
const maxHeaderSize = 16 * 1024;

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

export function createPortServer({ tls }: PortAddress, listener: Listener, times: PortTimes): http.Server {
  const { headersMs: headersTimeout, requestMs: requestTimeout, idleMs: keepAliveTimeout } = times;
  const limits = { headersTimeout, requestTimeout, keepAliveTimeout, connectionsCheckingInterval: times.checkMs };
  const options = { ...limits, maxHeaderSize };
  const answer = announcing(listener, times);
  if (tls === null) return http.createServer(options, answer);
  try {
    return https.createServer({ ...options, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: headersTimeout }, answer);
  } catch (error) {
    throw new Fault('invalid', `http.tls: the certificate and the key cannot be used: ${(error as Error).message}`, {
      hint: 'Both are PEM files, and the key is the one of the certificate.',
      cause: error,
    });
  }
}

/** Announces half the idle time, so that a busy client does not send a request while the connection closes. */
function announcing(listener: Listener, { idleMs }: PortTimes): http.RequestListener {
  const announced = `timeout=${Math.floor(idleMs / 2000)}`;
  return (request, response) => {
    response.setHeader('Keep-Alive', announced);
    listener(request, response);
  };
}

type Place = Pick<PortAddress, 'port' | 'address'>;

export function bindPort(server: http.Server, { port, address }: Place, backlog: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(bindFault(error, `${address}:${port}`)));
    server.listen({ port, host: address, backlog }, resolve);
  });
}

function bindFault(error: NodeJS.ErrnoException, where: string): Fault {
  if (error.code === 'EADDRINUSE')
    return new Fault('unavailable', `another program listens on ${where}`, {
      hint: 'Use another port: carrel up --port N, or http.port in config.yaml.',
    });
  return new Fault('invalid', `cannot listen on ${where}: ${error.message}`, {
    hint: 'See http.address and http.port in config.yaml.',
    cause: error,
  });
}
