/** Answers of the agent API. */
import type { ServerResponse } from 'node:http';
import { asFault, Fault, type FaultDetails, faultTable } from '../../../../model/fault.ts';
import { ShapeError } from '../../../../model/shape.ts';

/** Pieces that are written one after the other, as fast as the client reads. */
export interface Pieces {
  readonly pieces: AsyncIterable<string> | Iterable<string>;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent while there are no other pieces, so that both sides notice a dead connection. */
  readonly heartbeat?: string;
  /** The last piece after a failure. */
  readonly failed?: (fault: Fault) => string;
}

/** `json` undefined: no body. */
export interface Whole {
  readonly status?: number;
  readonly json: unknown;
}

export type Reply = Whole | Pieces;

/** A Fault with its own HTTP status, which is not that of its code. */
export class HttpRefusal extends Fault {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(fault: Fault, status: number, headers: Readonly<Record<string, string>> = {}) {
    super(fault.code, fault.message, detailsOf(fault));
    this.status = status;
    this.headers = headers;
  }
}

function detailsOf({ hint, data }: Fault): FaultDetails {
  return { ...(hint === undefined ? {} : { hint }), ...(data === undefined ? {} : { data }) };
}

export function faultOf(error: unknown): Fault {
  return error instanceof ShapeError
    ? new Fault('invalid', `the request is not valid: ${error.message}`)
    : asFault(error);
}

export function sendWhole(response: ServerResponse, { status = 200, json }: Whole): void {
  if (json === undefined) return void response.writeHead(status === 200 ? 204 : status).end();
  const body = Buffer.from(JSON.stringify(json));
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body);
}

/** Closes the connection after the answer if the body was not read to its end. */
export function sendFault(response: ServerResponse, fault: Fault): void {
  const { status, headers } =
    fault instanceof HttpRefusal ? fault : { status: faultTable[fault.code].http, headers: {} };
  if (!response.req.complete) response.setHeader('Connection', 'close');
  if (fault.code === 'unauthenticated') response.setHeader('WWW-Authenticate', 'Bearer');
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  sendWhole(response, { status, json: fault });
}
