/**
 * Serves the HTTP API of Chroma to sandboxes at a unix socket. The proxy writes the identity of the sandbox into a
 * header.
 */
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { listenPrivately } from '../../lib/file/private-socket.ts';
import { Rate } from '../../lib/flow/rate.ts';
import { firstBytes } from '../../lib/process/collect.ts';
import { asFault, Fault, faultTable } from '../../model/fault.ts';
import { callerHeader, callerId } from '../../noun/network/model/service.ts';
import { checkedBody, maxBodyBytes } from './body.ts';
import { type ChromaUpstream, databasePath } from './chroma-upstream.ts';
import { Collections, type ListedCollection } from './collections.ts';
import type { ChromaPlace } from './model.ts';
import { planOf, type RoutePlan } from './route.ts';

export interface BrokerParts {
  /** Null: the sandbox has no place. Any other answer is cached for the sandbox. */
  readonly placeOf: (sandbox: string) => Promise<ChromaPlace | null>;
  /** Resolves when the server answers; `unavailable` if it does not in time. */
  readonly server: () => Promise<ChromaUpstream>;
  /** The clock for the limit of requests per second. */
  readonly nowMs?: () => number;
}

type Forwarded = Extract<RoutePlan, { kind: 'forward' }>;

const bodyMs = 30_000;
/** Limits of the requests of one sandbox: per second, in a burst, and at the same time. */
const rate = { perSecond: 500, burst: 2000 };
const maxAtOnce = 64;
/** The same limit as for collections of notes. */
const maxCollections = 1000;
const maxLearnedBytes = 16 * 1024 ** 2;

export class Broker {
  readonly #parts: BrokerParts;
  readonly #rate: Rate;
  readonly #running = new Map<string, number>();
  readonly #places = new Map<string, Promise<ChromaPlace | null>>();
  readonly #provided = new Set<string>();
  readonly #server: http.Server;
  #collections: Collections;

  constructor(parts: BrokerParts) {
    this.#parts = parts;
    this.#rate = new Rate(rate, parts.nowMs);
    this.#collections = this.#emptyCollections();
    this.#server = http.createServer((request, response) => void this.#answer(request, response));
    this.#server.requestTimeout = bodyMs;
  }

  listen(path: string): Promise<void> {
    return listenPrivately(this.#server, path);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Call it when the server has other files: cached databases and collections may no longer exist. */
  forgetAll(): void {
    this.#provided.clear();
    this.#collections = this.#emptyCollections();
  }

  /** Call it when a sandbox is removed, before its database is dropped. */
  release(sandbox: string, place: ChromaPlace): void {
    this.#places.delete(sandbox);
    this.#provided.delete(databasePath(place));
  }

  /** Call it when the databases of this tenant are removed: each is created again when it is used. */
  forgetTenant(tenant: string): void {
    const path = databasePath({ tenant, database: '' });
    for (const key of this.#provided) if (key.startsWith(path)) this.#provided.delete(key);
  }

  #emptyCollections(): Collections {
    return new Collections(async (place, offset, limit) => (await this.#parts.server()).list(place, offset, limit));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const sandbox = callerId(request.headersDistinct[callerHeader]);
      this.#enter(sandbox);
      try {
        await this.#handle(sandbox, request, response);
      } finally {
        this.#leave(sandbox);
      }
    } catch (error) {
      refuse(response, asFault(error));
    }
  }

  #enter(sandbox: string): void {
    const running = this.#running.get(sandbox) ?? 0;
    const isTooMuch = running >= maxAtOnce || this.#rate.take(sandbox) > 0;
    if (isTooMuch) throw new Fault('exhausted', tooMany);
    this.#running.set(sandbox, running + 1);
  }

  #leave(sandbox: string): void {
    const left = (this.#running.get(sandbox) ?? 1) - 1;
    if (left === 0) this.#running.delete(sandbox);
    else this.#running.set(sandbox, left);
  }

  async #handle(sandbox: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const plan = planOf(request.method ?? '', request.url ?? '');
    const place = await this.#place(sandbox);
    if (plan.kind === 'own') return send(response, 200, plan.answer(place));
    if (plan.kind === 'pass') return this.#relay(response, plan.path, 'GET', null);
    if (plan.writes && place.readonly) throw new Fault('denied', 'this sandbox only reads the memory');
    const body = plan.body === null ? null : checkedBody(plan.body, await bodyOf(request));
    await this.#provide(place);
    if (plan.collection !== null) await this.#collections.require(place, plan.collection);
    await this.#forward(plan, place, body, response);
  }

  #place(sandbox: string): Promise<ChromaPlace> {
    let place = this.#places.get(sandbox);
    if (place === undefined) {
      place = this.#parts.placeOf(sandbox);
      this.#places.set(sandbox, place);
      place.catch(() => this.#places.delete(sandbox));
    }
    return place.then((found) => {
      if (found !== null) return found;
      this.#places.delete(sandbox);
      throw new Fault('denied', 'this sandbox has no scope of the memory');
    });
  }

  async #provide(place: ChromaPlace): Promise<void> {
    const key = databasePath(place);
    if (this.#provided.has(key)) return;
    await (await this.#parts.server()).provide(place);
    this.#provided.add(key);
  }

  async #forward(plan: Forwarded, place: ChromaPlace, body: Buffer | null, response: ServerResponse): Promise<void> {
    const base = databasePath(place);
    if (plan.body === 'create') await this.#checkCount(base);
    const path = `${base}/${plan.path}`;
    if (!plan.learns) return this.#relay(response, path, plan.method, body);
    const answer = await (await this.#parts.server()).request({ method: plan.method, path, body });
    const bytes = await firstBytes(answer, maxLearnedBytes + 1);
    if (bytes.length > maxLearnedBytes)
      throw new Fault('exhausted', 'the answer is too large: ask for fewer collections');
    if (answer.statusCode === 200) this.#collections.learn(place, listedIn(bytes));
    send(response, answer.statusCode ?? 502, bytes);
  }

  async #checkCount(base: string): Promise<void> {
    const path = `${base}/collections_count`;
    const { status, value } = await (await this.#parts.server()).json({ method: 'GET', path });
    if (status !== 200 || typeof value !== 'number')
      throw new Fault('unavailable', `the Chroma server did not count collections (status ${status})`);
    if (value >= maxCollections) throw new Fault('exhausted', `a database has at most ${maxCollections} collections`);
  }

  async #relay(response: ServerResponse, path: string, method: string, body: Buffer | null): Promise<void> {
    const answer = await (await this.#parts.server()).request({ method, path, body });
    response.writeHead(answer.statusCode ?? 502, { 'content-type': 'application/json' });
    // A client that goes away, or a server that ends, breaks the connection: the client sees a cut answer, ignoring.
    await pipeline(answer, response).catch(() => response.destroy());
  }
}

const tooMany = `this sandbox sends more than ${rate.perSecond} requests a second, or ${maxAtOnce} at once`;

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  if (request.headers['content-encoding'] !== undefined)
    throw new Fault('invalid', 'the broker of Chroma reads no compressed bodies');
  const bytes = await firstBytes(request, maxBodyBytes + 1);
  if (bytes.length <= maxBodyBytes) return bytes;
  throw new Fault('exhausted', 'the request is larger than 16 MiB: send fewer records at once');
}

function listedIn(bytes: Buffer): readonly ListedCollection[] {
  const value = JSON.parse(bytes.toString('utf8')) as ListedCollection | readonly ListedCollection[];
  return Array.isArray(value) ? value : [value as ListedCollection];
}

function send(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(Buffer.isBuffer(value) ? value : JSON.stringify(value));
}

/** Sends errors in the form that Chroma uses, so that its clients print the reason. */
function refuse(response: ServerResponse, { code, message, hint }: Fault): void {
  if (response.headersSent) return void response.destroy();
  const text = hint === undefined ? message : `${message} (${hint})`;
  const status = code === 'exhausted' ? (message === tooMany ? 429 : 413) : faultTable[code].http;
  // The rest of a body that was not read would be parsed as the next request.
  response.setHeader('connection', 'close');
  send(response, status, { error: code, message: text });
}
