/** The part of MCP that a server with tools needs, over stdio: JSON-RPC by lines. */
import { Lines } from '../lib/wire/lines.ts';
import { asFault, type Fault, faultTable } from '../model/fault.ts';
import { isObject } from '../model/object.ts';

export interface Toolset {
  readonly name: string;
  readonly instructions?: string;
  has(tool: string): boolean;
  /** The result of `tools/list`. */
  list(): object | Promise<object>;
  /** The result of `tools/call`. What it throws becomes a result that the model reads. */
  call(tool: string, input: unknown): Promise<object>;
}

interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: string | number;
  readonly method?: unknown;
  readonly params?: { readonly name?: unknown; readonly arguments?: unknown; readonly protocolVersion?: unknown };
}

const versions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** More than any tool accepts; the text of a longer line is cut, which makes it invalid. */
const maxLineBytes = 8 * 1024 ** 2;

/** Serves until the input ends. Calls run at the same time. */
export async function serveTools(tools: Toolset): Promise<void> {
  process.stdout.on('error', () => process.exit(0));
  const write = (message: object) => void process.stdout.write(`${JSON.stringify(message)}\n`);
  const server = new ToolServer(tools, write);
  const open = new Set<Promise<void>>();
  const receive = (line: string) => {
    if (line.trim() === '') return;
    const work = server.receive(line).finally(() => open.delete(work));
    open.add(work);
  };
  try {
    const lines = new Lines(maxLineBytes);
    for await (const chunk of process.stdin) lines.push(chunk).forEach(receive);
    lines.end().forEach(receive);
    await Promise.all(open);
  } catch (error) {
    const { code, message } = asFault(error);
    process.stderr.write(`${tools.name}: ${message}\n`);
    process.exitCode = faultTable[code].exit;
  }
}

class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

class ToolServer {
  readonly #tools: Toolset;
  readonly #write: (message: object) => void;

  constructor(tools: Toolset, write: (message: object) => void) {
    this.#tools = tools;
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
    if (method === 'tools/list') return this.#tools.list();
    if (method === 'tools/call') return this.#callTool(params);
    throw new RpcError(-32_601, `there is no method ${method}`);
  }

  async #callTool({ name, arguments: input = {} }: NonNullable<Message['params']>): Promise<object> {
    if (typeof name !== 'string' || !this.#tools.has(name)) throw new RpcError(-32_602, 'there is no such tool');
    try {
      return await this.#tools.call(name, input);
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
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function greeting({ name, instructions }: Toolset, requested: unknown): object {
  const protocolVersion = versions.find((version) => version === requested) ?? versions[0];
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
