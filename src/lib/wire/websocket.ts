/**
 * The WebSocket handshake of a proxy: the request of a client goes to a server, and the head of its response comes back.
 * Bytes of the client pass only after the server has agreed with status 101; before that they could be requests that the
 * proxy never checked.
 */
import { type IncomingMessage, request as send } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Headers, headText, valuesOf } from './http-headers.ts';

export interface Handshake {
  /** The request, without headers about the connection. */
  readonly request: { readonly method: string; readonly path: string; readonly headers: Headers };
  readonly client: Duplex;
  readonly server: Duplex;
  /** The headers of a response that the client gets. When it throws, nothing is written and `failed` is called. */
  readonly responseHeaders: (response: IncomingMessage) => Headers;
  /**
   * The server agreed, and the client has the head of its response. `first`: bytes of the server that came with the
   * head.
   */
  readonly opened: (first: Buffer) => void;
  /** The server answered with another response. The client has its head; the caller passes the body. */
  readonly declined: (response: IncomingMessage) => void;
  readonly failed: (error: Error) => void;
}

const upgrading: Headers = ['Connection', 'Upgrade', 'Upgrade', 'websocket'];

/** A request to upgrade to WebSocket and to no other protocol, without a body. */
export function isWebSocketRequest({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): boolean {
  const protocol = valuesOf(rawHeaders, 'upgrade').join().toLowerCase();
  const body = [...valuesOf(rawHeaders, 'content-length'), ...valuesOf(rawHeaders, 'transfer-encoding')];
  return protocol === 'websocket' && body.every((text) => text === '0');
}

export function passHandshake({ request, client, server, responseHeaders, ...on }: Handshake): void {
  const headers = [...request.headers, ...upgrading];
  const outgoing = send({ ...request, headers, setHost: false, createConnection: () => server as never });
  const answer = (response: IncomingMessage, more: Headers, then: () => void) => {
    try {
      const { statusCode, statusMessage } = response;
      const passed = [...responseHeaders(response), ...more];
      // Node reads heads as Latin-1.
      client.write(headText(statusCode!, statusMessage!, passed), 'latin1');
    } catch (error) {
      on.failed(error as Error);
      return;
    }
    then();
  };
  client.once('close', () => server.destroy());
  outgoing.on('error', on.failed);
  outgoing.once('response', (response) => answer(response, ['Connection', 'close'], () => on.declined(response)));
  outgoing.once('upgrade', (response, _, first) => answer(response, upgrading, () => on.opened(first)));
  outgoing.end();
}
