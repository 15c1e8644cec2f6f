/**
 * The checks before a route gets a request: Host and Origin, then the token, then the rate. The agent can reach the
 * port, too, and so can pages in a browser when the port is open to the host; only the token shows that a client
 * belongs to the owner.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Rate } from '../../../../lib/flow/rate.ts';
import type { Connections } from '../../../../lib/wire/connections.ts';
import { SameSite } from '../../../../lib/wire/same-site.ts';
import { Fault } from '../../../../model/fault.ts';
import type { ApiSettings } from '../../model/settings.ts';
import type { ApiLimits } from './limit.ts';
import { HttpRefusal } from './reply.ts';

const tooManyRequests = 429;
/** Names of query parameters that other servers accept a token in. */
const inUrl = /^(access_token|token|authorization|bearer|api_?key)$/i;

const preflight = {
  'Access-Control-Allow-Methods': 'GET, POST, DELETE',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, Last-Event-ID, X-Approvals',
  'Access-Control-Max-Age': '600',
};

export interface Admitted {
  readonly isDaemon: boolean;
  isStillValid(): boolean;
}

export class Guard {
  readonly #settings: Pick<ApiSettings, 'tokens'>;
  readonly #connections: Connections;
  readonly #rate: Rate;
  readonly #refusedRate: Rate;
  readonly #site = new SameSite([], null, 'Connect by 127.0.0.1 or localhost.');

  constructor(settings: Pick<ApiSettings, 'tokens'>, connections: Connections, limits: ApiLimits) {
    this.#settings = settings;
    this.#connections = connections;
    this.#rate = new Rate(limits.rate);
    this.#refusedRate = new Rate(limits.refusedRate);
  }

  checkSite({ headers: { host, origin } }: IncomingMessage): void {
    this.#site.check({ host, origin });
  }

  admit(request: IncomingMessage, query: URLSearchParams): Admitted {
    const hash = this.#authenticate(request.headers.authorization, query);
    limitRate(this.#rate, hash);
    this.#connections.authenticated(request.socket);
    const { tokens } = this.#settings;
    return { isDaemon: hash === tokens[0], isStillValid: () => this.#settings.tokens.includes(hash) };
  }

  /** Returns the entry of the token in the settings: its hash, or, for a token of a client, the hash of its hash. */
  #authenticate(authorization: string | undefined, query: URLSearchParams): string {
    const once = hashOf(presented(authorization) ?? '');
    const twice = hashOf(once.toString('hex'));
    const found = this.#settings.tokens.filter((known) => isSame(once, known) || isSame(twice, known));
    if (found.length > 0 && ![...query.keys()].some((name) => inUrl.test(name))) return found[0]!;
    limitRate(this.#refusedRate, '');
    throw found.length > 0 ? tokenInUrl() : noToken();
  }
}

/**
 * Pages of this machine, such as a front end under development at another port, may call the API. Call it after the origin
 * was checked. True: the request was a preflight, which has no token, and is answered.
 */
export function allowOrigin({ method, headers }: IncomingMessage, response: ServerResponse): boolean {
  if (headers.origin === undefined) return false;
  response.setHeader('Access-Control-Allow-Origin', headers.origin);
  response.setHeader('Vary', 'Origin');
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false;
  response.writeHead(204, preflight).end();
  return true;
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function presented(authorization: string | undefined): string | undefined {
  return /^Bearer ([\w.~+/=-]{1,1000})$/i.exec(authorization ?? '')?.[1];
}

/** Compares in constant time. */
function isSame(hash: Buffer, known: string): boolean {
  const other = Buffer.from(known, 'hex');
  return other.length === hash.length && timingSafeEqual(hash, other);
}

function limitRate(rate: Rate, caller: string): void {
  const waitMs = rate.take(caller);
  if (waitMs === 0) return;
  const fault = new Fault('unavailable', 'too many requests', { hint: 'Try again later.' });
  throw new HttpRefusal(fault, tooManyRequests, { 'Retry-After': String(Math.ceil(waitMs / 1000)) });
}

function noToken(): Fault {
  return new Fault('unauthenticated', 'a token of this sandbox is needed', {
    hint: 'Send it as header, Authorization: Bearer TOKEN.',
  });
}

/** A token in a URL would end up in logs and histories. */
function tokenInUrl(): Fault {
  return new Fault('unauthenticated', 'a token in a URL is refused', {
    hint: 'Send it as header only, Authorization: Bearer TOKEN.',
  });
}
