/** The part of MCP that a server with tools needs. The daemon has the list of tools. */

import { asFault, type Fault } from '../../model/fault.ts';
import type { CallDaemon, Toolset } from './memory.ts';

interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: string | number;
  readonly method?: unknown;
  readonly params?: { readonly name?: unknown; readonly arguments?: unknown; readonly protocolVersion?: unknown };
}

const versions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export class ToolServer {
  readonly #tools: Toolset;
  readonly #call: CallDaemon;
  readonly #write: (message: object) => void;

  constructor(tools: Toolset, call: CallDaemon, write: (message: object) => void) {
    this.#tools = tools;
    this.#call = call;
    this.#write = write;
  }

  async receive(line: string): Promise<void> {
    const message = parsed(line);
    if (message === null) return this.#answer(null, { error: { code: -32_700, message: 'not a JSON-RPC message' } });
    const { id } = message;
    // Notifications and responses are ignored: this server sends no requests.
    if (id === undefined || typeof message.method !== 'string') return;
    try {
      this.#answer(id, { result: await this.#handle(message.method, message.params ?? {}) });
    } catch (error) {
      const code = error instanceof RpcError ? error.code : -32_603;
      this.#answer(id, { error: { code, message: asFault(error).message } });
    }
  }

  async #handle(method: string, params: NonNullable<Message['params']>): Promise<object> {
    if (method === 'initialize') return greeting(this.#tools, params.protocolVersion);
    if (method === 'ping') return {};
    if (method === 'tools/list') return this.#call({ method: 'GET', path: this.#tools.path, isRepeatable: true });
    if (method === 'tools/call') return this.#callTool(params);
    throw new RpcError(-32_601, `there is no method ${method}`);
  }

  async #callTool({ name, arguments: input = {} }: NonNullable<Message['params']>): Promise<object> {
    if (typeof name !== 'string' || !/^[a-z_]{1,40}$/.test(name)) throw new RpcError(-32_602, 'there is no such tool');
    try {
      const tools = this.#tools;
      const isRepeatable = tools.isRepeatable(name);
      const body = tools.input?.(name, input) ?? input;
      return tools.result(await this.#call({ method: 'POST', path: `${tools.path}/${name}`, body, isRepeatable }));
    } catch (error) {
      return refusal(asFault(error));
    }
  }

  #answer(id: string | number | null, outcome: object): void {
    this.#write({ jsonrpc: '2.0', id, ...outcome });
  }
}

function parsed(line: string): Message | null {
  try {
    const value = JSON.parse(line) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function greeting({ name, instructions }: Toolset, asked: unknown): object {
  const protocolVersion = versions.find((version) => version === asked) ?? versions[0];
  const serverInfo = { name, version: '1' };
  return { protocolVersion, capabilities: { tools: {} }, serverInfo, instructions };
}

/** The refusal is also in the text, which the model reads. */
function refusal({ code, message, hint }: Fault): object {
  return {
    isError: true,
    content: [{ type: 'text', text: `${code}: ${message}${hint === undefined ? '' : `\nhint: ${hint}`}` }],
  };
}
