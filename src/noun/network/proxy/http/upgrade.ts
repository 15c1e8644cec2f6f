/** WebSockets through the proxy. An upgrade to any other protocol is refused: it could hide requests from the proxy. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { isWebSocketRequest, passHandshake } from '../../../../lib/wire/websocket.ts';
import { endpointText } from '../../../../model/host.ts';
import { RefusedAttempt } from '../../lookup.ts';
import type { Attempt } from '../attached/attempt.ts';
import { endWith, type Inbound, linger } from '../front/inbound.ts';
import { counted } from '../relay/relay.ts';
import { refusalText } from './refusal.ts';
import { type ForwardRequest, passedOn } from './request.ts';

/** Throws `RefusedAttempt` for any other upgrade. */
export function checkUpgrade(request: IncomingMessage): void {
  if (!isWebSocketRequest(request)) {
    throw new RefusedAttempt('bad_request', 'the only upgrade that passes is to WebSocket, without a body');
  }
}

interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  readonly wanted: ForwardRequest;
  readonly upstream: Socket;
  readonly attempt: Attempt;
  readonly attached: Inbound['attached'];
}

export function passUpgrade({ request, socket, wanted, upstream, attempt, attached }: Upgrade): void {
  attempt.holds(socket, upstream);
  upstream.once('close', () => attempt.end());
  passHandshake({
    request: { method: request.method!, path: wanted.path, headers: passedOn(request.rawHeaders) },
    client: socket,
    server: upstream,
    responseHeaders: ({ rawHeaders }) => passedOn(rawHeaders),
    opened: (first) => {
      if (first.length > 0) upstream.unshift(first);
      attached.connect(attempt, socket, upstream);
    },
    declined: (response) => {
      pipeline(response, counted(attached.passing(attempt), 'received'), socket, () => {
        upstream.destroy();
        linger(socket);
      });
    },
    failed: () => {
      const reason = `${endpointText(wanted.target)} closed the connection`;
      attempt.end(reason);
      if (socket.writable) endWith(socket, refusalText(new RefusedAttempt('unreachable', reason)));
    },
  });
}
