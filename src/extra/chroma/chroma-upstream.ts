/** Requests to the server. */
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { firstBytes } from '../../lib/process/collect.ts';
import { Fault } from '../../model/fault.ts';
import type { ListedCollection } from './collections.ts';
import type { ChromaPlace } from './model.ts';

export interface UpstreamRequest {
  readonly method: string;
  /** The path from /api on. */
  readonly path: string;
  readonly body?: Buffer | null;
  readonly signal?: AbortSignal;
}

export interface UpstreamOptions {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Adding to a large index takes long; a server that hangs is found by its health check. */
const answerMs = 60_000;
const maxSockets = 64;
const databasePage = 500;
const maxListBytes = 8 * 1024 ** 2;

export class ChromaUpstream {
  readonly #base: URL;
  readonly #prefix: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #agent: http.Agent;
  readonly #send: typeof http.request;

  constructor({ url, headers = {} }: UpstreamOptions) {
    this.#base = new URL(url);
    this.#prefix = this.#base.pathname.replace(/\/$/, '');
    this.#headers = headers;
    const isTls = this.#base.protocol === 'https:';
    this.#agent = new (isTls ? https : http).Agent({ keepAlive: true, maxSockets });
    this.#send = isTls ? https.request : http.request;
  }

  /** `unavailable` if there is no answer: then a write may have happened or not. */
  request({ method, path, body = null, signal }: UpstreamRequest): Promise<IncomingMessage> {
    const { hostname, port } = this.#base;
    const headers = {
      ...this.#headers,
      accept: 'application/json',
      ...(body === null ? {} : { 'content-type': 'application/json', 'content-length': String(body.length) }),
    };
    return new Promise((resolve, reject) => {
      const sent = this.#send({
        ...{ hostname: hostname.replace(/^\[|\]$/g, ''), port, method, headers, agent: this.#agent, timeout: answerMs },
        path: `${this.#prefix}${path}`,
        ...(signal === undefined ? {} : { signal }),
      });
      sent.on('response', resolve);
      sent.on('timeout', () => sent.destroy(new Error('it does not answer in time')));
      sent.on('error', (cause: NodeJS.ErrnoException) =>
        reject(
          new Fault('unavailable', `the Chroma server did not answer (${cause.code ?? cause.message})`, { cause }),
        ),
      );
      sent.end(body ?? undefined);
    });
  }

  /** For requests with a small answer. Resolves with any status; the value is null if the answer is not JSON. */
  async json(request: UpstreamRequest): Promise<{ readonly status: number; readonly value: unknown }> {
    const response = await this.request(request);
    const bytes = await firstBytes(response, maxListBytes + 1);
    if (bytes.length > maxListBytes) throw new Fault('exhausted', 'the answer of the Chroma server is too large');
    return { status: response.statusCode ?? 0, value: parsed(bytes) };
  }

  async list(place: ChromaPlace, offset: number, limit: number): Promise<readonly ListedCollection[]> {
    const path = `${databasePath(place)}/collections?limit=${limit}&offset=${offset}`;
    const { status, value } = await this.json({ method: 'GET', path });
    if (status === 200 && Array.isArray(value)) return value as ListedCollection[];
    throw new Fault('unavailable', `the Chroma server did not list its collections (status ${status})`);
  }

  /** Creates tenant and database if they do not exist yet. */
  async provide({ tenant, database }: ChromaPlace): Promise<void> {
    await this.#create('/api/v2/tenants', tenant);
    await this.#create(`/api/v2/tenants/${tenant}/databases`, database);
  }

  /** Succeeds also if the database does not exist. */
  async dropDatabase(place: Pick<ChromaPlace, 'tenant' | 'database'>): Promise<void> {
    const { status } = await this.json({ method: 'DELETE', path: databasePath(place) });
    const isGone = (status >= 200 && status < 300) || status === 404;
    if (!isGone) throw new Fault('unavailable', `the Chroma server did not remove a database (status ${status})`);
  }

  /** The names of the databases. A tenant that does not exist has none. */
  async databases(tenant: string): Promise<readonly string[]> {
    const names: string[] = [];
    for (;;) {
      const path = `/api/v2/tenants/${tenant}/databases?limit=${databasePage}&offset=${names.length}`;
      const { status, value } = await this.json({ method: 'GET', path });
      if (status === 404) return names;
      if (status !== 200 || !Array.isArray(value))
        throw new Fault('unavailable', `the Chroma server did not list its databases (status ${status})`);
      names.push(...(value as { name: string }[]).map(({ name }) => name));
      if (value.length < databasePage) return names;
    }
  }

  async version(): Promise<string> {
    const { status, value } = await this.json({ method: 'GET', path: '/api/v2/version' });
    if (status === 200 && typeof value === 'string') return value;
    throw new Fault('unavailable', `there is no Chroma server with API version 2 (status ${status})`);
  }

  async beat(signal: AbortSignal): Promise<void> {
    const { status } = await this.json({ method: 'GET', path: '/api/v2/heartbeat', signal });
    if (status !== 200) throw new Fault('unavailable', `the Chroma server failed its health check (status ${status})`);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #create(path: string, name: string): Promise<void> {
    const { status } = await this.json({ method: 'POST', path, body: Buffer.from(JSON.stringify({ name })) });
    if (status >= 300 && status !== 409)
      throw new Fault('unavailable', `the Chroma server did not create ${name} (status ${status})`);
  }
}

/** The names of places need no encoding in a URL. */
export function databasePath({ tenant, database }: Pick<ChromaPlace, 'tenant' | 'database'>): string {
  return `/api/v2/tenants/${tenant}/databases/${database}`;
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return null;
  }
}
