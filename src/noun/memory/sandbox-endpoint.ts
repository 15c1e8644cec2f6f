/**
 * The memory for sandboxes: HTTP at a unix socket that only the daemon's account can open. The proxy connects to it for a sandbox and puts
 * the identity of the sandbox into a header, after it removed what the sandbox sent there.
 *
 *   GET /tools              the tools that this sandbox may call, as MCP lists them
 *   POST /tools/NAME        calls one with the JSON in the body
 *   GET /bank, POST /bank/NAME   the same for the memory bank
 */
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { listenPrivately } from '../../lib/file/private-socket.ts';
import { Rate } from '../../lib/flow/rate.ts';
import { readJsonText } from '../../lib/wire/bounded-json.ts';
import { asFault, Fault, faultTable } from '../../model/fault.ts';
import { callerHeader, callerId } from '../network/model/service.ts';

/** The tools, by the first segment of the path. */
export type ToolSets = Readonly<Record<'tools' | 'bank', SandboxTools>>;

export interface SandboxTools {
  /** `sandbox` is the id of the sandbox. */
  tools(sandbox: string): readonly object[];
  call(sandbox: string, tool: string, input: unknown): Promise<object>;
}

const maxBodyBytes = 2 * 1024 ** 2;
const bodyMs = 10_000;
/** Limits of the calls of one sandbox: per second, and in a burst. */
const rate = { perSecond: 100, burst: 1000 };

export class SandboxEndpoint {
  readonly #sets: ToolSets;
  readonly #rate = new Rate(rate);
  readonly #server: http.Server;

  constructor(sets: ToolSets) {
    this.#sets = sets;
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

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      send(response, 200, await this.#handle(request));
    } catch (error) {
      const fault = asFault(error);
      send(response, faultTable[fault.code].http, fault.toJSON());
    }
  }

  async #handle(request: IncomingMessage): Promise<object> {
    const sandbox = callerId(request.headersDistinct[callerHeader]);
    if (this.#rate.take(sandbox) > 0) {
      throw new Fault('unavailable', `this sandbox called the memory more than ${rate.perSecond} times a second`);
    }
    const [, set, tool] = /^\/(tools|bank)(?:\/([a-z_]{1,40}))?$/.exec(request.url ?? '') ?? [];
    const tools = this.#sets[set as keyof ToolSets];
    if (request.method === 'GET' && tools && tool === undefined) return { tools: tools.tools(sandbox) };
    if (request.method === 'POST' && tools && tool !== undefined)
      return tools.call(sandbox, tool, await bodyOf(request));
    throw new Fault('not_found', 'there is no such path');
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const text = await readJsonText(request, maxBodyBytes);
  if (text === null) throw new Fault('exhausted', 'the request is larger than 2 MiB');
  return JSON.parse(text);
}

function send(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
