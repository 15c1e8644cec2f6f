/** WebSockets: the handshake is a request like any other, and what follows is passed both ways as it is. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { type Duplex, pipeline } from 'node:stream';
import { asFault, Fault } from '../../model/fault.ts';
import { headText } from '../headers.ts';
import type { Call } from '../network.ts';
import { echoIn, responseHeaders } from './headers.ts';
import type { Outgoing } from './outgoing.ts';
import { refuseOn } from './refusal.ts';
import { openUpstream } from './upstream.ts';

interface Upgrading {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** What the client sent after its request. */
  readonly head: Buffer;
}

/** Of protocols only that one: others, such as HTTP/2, would carry requests that nobody looks at. */
export function passUpgrade(call: Call, order: Outgoing, { request, socket, head }: Upgrading): void {
  if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
    refuseOn(socket, 501, new Fault('unsupported', 'the only protocol to change to is websocket'));
    return;
  }
  openUpstream(call).then(
    (stream) => shakeHands(call, stream, order, { socket, head }),
    (error: unknown) => refuseOn(socket, 502, asFault(error)),
  );
}

function shakeHands(call: Call, stream: Duplex, order: Outgoing, { socket, head }: Omit<Upgrading, 'request'>): void {
  const headers = [...order.headers, 'connection', 'Upgrade', 'upgrade', 'websocket'];
  const upstream = httpRequest({
    ...order,
    headers,
    setHost: false,
    createConnection: () => stream as never,
  });
  socket.once('close', () => stream.destroy());
  upstream.on('error', (error) => refuseOn(socket, 502, asFault(error)));
  const isPassed = (answer: IncomingMessage, more: readonly string[]): boolean => {
    const echo = echoIn(call, answer);
    if (echo) refuseOn(socket, 502, echo);
    else socket.write(headOf(answer, more));
    return echo === null;
  };
  upstream.once('response', (answer) => {
    if (isPassed(answer, ['connection', 'close'])) pipeline(answer, socket, () => {});
  });
  upstream.once('upgrade', (answer, opened, first) => {
    if (!isPassed(answer, ['connection', 'Upgrade', 'upgrade', 'websocket'])) return;
    socket.write(first);
    opened.write(head);
    pipeline(socket, call.counted('sent'), opened, call.counted('received'), socket, () => {});
  });
  upstream.end();
}

function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage, more: readonly string[]): string {
  return headText(statusCode!, statusMessage!, [...responseHeaders(rawHeaders), ...more]);
}
