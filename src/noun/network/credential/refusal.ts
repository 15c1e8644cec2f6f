/** Refusals of the forwarder, in the JSON form that services use for errors. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Fault } from '../../../model/fault.ts';

function bodyOf({ code, message, hint }: Fault): string {
  const text = `carrel: ${message}${hint === undefined ? '' : `. hint: ${hint}`}`;
  return `${JSON.stringify({ type: 'error', error: { type: `carrel_${code}`, message: text } })}\n`;
}

export function refuse(request: IncomingMessage, response: ServerResponse, status: number, fault: Fault): void {
  request.unpipe();
  request.resume();
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(bodyOf(fault));
}

/** Like `refuse`, for a bare socket. */
export function refuseOn(socket: Duplex, status: number, fault: Fault): void {
  if (socket.destroyed) return;
  const body = bodyOf(fault);
  const lines = [`HTTP/1.1 ${status} Refused`, 'content-type: application/json', 'connection: close', '', body];
  socket.end(lines.join('\r\n'));
}
