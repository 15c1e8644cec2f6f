/** WebSockets to the host of a credential: the handshake gets the header; later bytes pass both ways unchanged. */
import type { IncomingMessage } from 'node:http';
import { type Duplex, pipeline } from 'node:stream';
import { isWebSocketRequest, passHandshake } from '../../../lib/wire/websocket.ts';
import { asFault, Fault } from '../../../model/fault.ts';
import type { CredentialCall } from './credential.ts';
import { echoIn, responseHeaders } from './headers.ts';
import type { Outgoing } from './outgoing.ts';
import { refuseOn } from './refusal.ts';
import { openUpstream } from './upstream.ts';

interface Upgrading {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** Bytes that the client sent after its request. */
  readonly head: Buffer;
}

/** Other protocols, such as HTTP/2, would carry requests that the forwarder does not check. */
export function passUpgrade(call: CredentialCall, order: Outgoing, { request, socket, head }: Upgrading): void {
  if (!isWebSocketRequest(request)) {
    refuseOn(socket, 501, new Fault('unsupported', 'the only upgrade that passes is to WebSocket, without a body'));
    return;
  }
  openUpstream(call).then(
    (server) => shakeHands(call, server, order, { socket, head }),
    (error: unknown) => refuseOn(socket, 502, asFault(error)),
  );
}

function shakeHands(
  call: CredentialCall,
  server: Duplex,
  order: Outgoing,
  { socket, head }: Omit<Upgrading, 'request'>,
): void {
  passHandshake({
    request: order,
    client: socket,
    server,
    responseHeaders: (response) => {
      const echo = echoIn(call, response);
      if (echo) throw echo;
      return responseHeaders(response.rawHeaders);
    },
    opened: (first) => {
      socket.write(first);
      server.write(head);
      pipeline(socket, call.counted('sent'), server, call.counted('received'), socket, () => {});
    },
    declined: (response) => pipeline(response, call.counted('received'), socket, () => {}),
    failed: (error) => refuseOn(socket, 502, asFault(error)),
  });
}
