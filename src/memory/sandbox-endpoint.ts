/**
 * The memory for sandboxes: HTTP at a unix socket that only the daemon's account can open. The proxy connects to it for a sandbox and puts
 * the identity of the sandbox into a header, after it removed what the sandbox sent there.
 *
 *   GET /tools         the tools that this sandbox may call, as MCP lists them
 *   POST /tools/NAME   calls one with the JSON in the body
 */
import { chmodSync, closeSync, constants, openSync, rmSync } from 'node:fs';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { basename, dirname } from 'node:path';
import { parseBounded } from '../lib/bounded-json.ts';
import { firstBytes } from '../lib/collect.ts';
import { Rate } from '../lib/rate.ts';
import { asFault, consequences, Fault } from '../model/fault.ts';
import { callerHeader } from '../model/service.ts';

export interface SandboxTools {
  /** By the id of the sandbox. */
  tools(sandbox: string): readonly object[];
  call(sandbox: string, tool: string, input: unknown): Promise<object>;
}

const maxBodyBytes = 2 * 1024 ** 2;
const bodyMs = 10_000;
/** Calls of one sandbox a second, and at once. */
const rate = { perSecond: 100, burst: 1000 };

export class SandboxEndpoint {
  readonly #tools: SandboxTools;
  readonly #rate = new Rate(rate);
  readonly #server: http.Server;

  constructor(tools: SandboxTools) {
    this.#tools = tools;
    this.#server = http.createServer((request, response) => void this.#answer(request, response));
    this.#server.requestTimeout = bodyMs;
  }

  /** Bound through the open folder, because the path of a socket may have at most 107 bytes. */
  async listen(path: string): Promise<void> {
    const folder = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      rmSync(path, { force: true });
      await new Promise<void>((resolve, reject) => {
        this.#server.once('error', reject);
        this.#server.listen({ path: `/proc/self/fd/${folder}/${basename(path)}` }, resolve);
      });
      chmodSync(path, 0o600);
    } finally {
      closeSync(folder);
    }
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      send(response, 200, await this.#handle(request));
    } catch (error) {
      const fault = asFault(error);
      send(response, consequences[fault.code].http, fault.toJSON());
    }
  }

  async #handle(request: IncomingMessage): Promise<object> {
    const sandbox = sandboxOf(request);
    if (this.#rate.take(sandbox) > 0) {
      throw new Fault('unavailable', `this sandbox called the memory more than ${rate.perSecond} times a second`);
    }
    if (request.method === 'GET' && request.url === '/tools') return { tools: this.#tools.tools(sandbox) };
    const tool = request.method === 'POST' ? /^\/tools\/([a-z_]{1,40})$/.exec(request.url ?? '')?.[1] : undefined;
    if (tool === undefined) throw new Fault('not_found', 'there is no such path');
    return this.#tools.call(sandbox, tool, await bodyOf(request));
  }
}

/** The proxy sends the header once; anything else is not from the proxy. */
function sandboxOf({ headersDistinct }: IncomingMessage): string {
  const [text, ...more] = headersDistinct[callerHeader] ?? [];
  const id = text === undefined || more.length > 0 ? undefined : (JSON.parse(text) as { id?: unknown }).id;
  if (typeof id === 'string') return id;
  throw new Fault('unauthenticated', 'the request has no caller');
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const bytes = await firstBytes(request, maxBodyBytes + 1);
  if (bytes.length > maxBodyBytes) throw new Fault('exhausted', 'the request is larger than 2 MiB');
  return parseBounded(Buffer.from(bytes));
}

function send(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
