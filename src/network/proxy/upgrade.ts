/** WebSockets, and no other protocol: that of a proxy in front of us would be one more way to hide requests. */
import { type IncomingMessage, request as send } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { endpointText } from '../../model/host.ts';
import { type Headers, headText, valuesOf } from '../headers.ts';
import { Refused } from '../lookup.ts';
import type { Attempt } from './attempt.ts';
import { refusalText } from './refusal.ts';
import { counted } from './relay.ts';
import { passedOn, type Wanted } from './request.ts';
import { farewell, linger, type Visit } from './visit.ts';

const upgrading = ['Connection', 'Upgrade', 'Upgrade', 'websocket'];

/** Throws `Refused`. */
export function checkUpgrade({ rawHeaders }: IncomingMessage): void {
  const protocol = valuesOf(rawHeaders, 'upgrade').join();
  if (protocol.toLowerCase() !== 'websocket') throw new Refused('bad_request', 'only WebSockets are upgraded to');
  const body = [...valuesOf(rawHeaders, 'content-length'), ...valuesOf(rawHeaders, 'transfer-encoding')];
  if (body.some((text) => text !== '0')) throw new Refused('bad_request', 'a request for a WebSocket has no body');
}

interface HandShake {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  readonly wanted: Wanted;
  readonly upstream: Socket;
  readonly attempt: Attempt;
  readonly attached: Visit['attached'];
}

/** Nothing else passes unless the server agrees: it would be requests that nobody reads. */
export function shakeHands({ request, socket, wanted, upstream, attempt, attached }: HandShake): void {
  attempt.holds(socket, upstream);
  socket.once('close', () => upstream.destroy());
  upstream.once('close', () => attempt.end());
  const headers = [...passedOn(request.rawHeaders), ...upgrading];
  const outgoing = send({ createConnection: () => upstream, method: request.method!, path: wanted.path, headers });
  outgoing.on('error', () => {
    const reason = `${endpointText(wanted.target)} broke the connection off`;
    attempt.end(reason);
    if (socket.writable) farewell(socket, refusalText(new Refused('unreachable', reason)));
  });
  outgoing.once('response', (answer) => {
    socket.write(headOf(answer, ['Connection', 'close']), 'latin1');
    pipeline(answer, counted(attached.passing(attempt), 'received'), socket, () => {
      upstream.destroy();
      linger(socket);
    });
  });
  outgoing.once('upgrade', (answer, _, first) => {
    if (first.length > 0) upstream.unshift(first);
    socket.write(headOf(answer, upgrading), 'latin1');
    attached.connect(attempt, socket, upstream);
  });
  outgoing.end();
}

function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage, more: Headers): string {
  return headText(statusCode!, statusMessage!, [...passedOn(rawHeaders), ...more]);
}
