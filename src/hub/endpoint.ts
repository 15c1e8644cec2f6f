/**
 * MCP at the port: Streamable HTTP in both generations of the protocol. Requests of revision 2026-07-28 stand alone; older ones belong
 * to a session. The caller of this file has authenticated the request and read its body.
 */
import type { McpHttpHandler } from '@modelcontextprotocol/server';
import type { Identity } from './authentication.ts';
import type { ClientTable } from './client-table.ts';
import { authInfoOf, type Exchange, refusal } from './exchange.ts';
import { createServer, loadSdk, type McpParts } from './mcp.ts';
import { Sessions } from './sessions.ts';

const methods = ['GET', 'POST', 'DELETE'];

export class McpEndpoint {
  readonly #partsOf: (identity: Identity) => McpParts;
  readonly #sessions: Sessions;
  #stateless: Promise<McpHttpHandler> | undefined;

  constructor(clients: ClientTable, partsOf: (identity: Identity) => McpParts) {
    this.#partsOf = partsOf;
    this.#sessions = new Sessions(clients, partsOf);
  }

  async answer(exchange: Exchange): Promise<Response> {
    const { request, body, identity } = exchange;
    if (!methods.includes(request.method)) return refusal(405, -32000, 'Method not allowed.');
    this.#checkScope(exchange);
    const { isLegacyRequest } = await loadSdk();
    if (await isLegacyRequest(request, body)) return this.#sessions.answer(exchange);
    this.#stateless ??= this.#createStateless();
    return (await this.#stateless).fetch(request, { parsedBody: body, authInfo: authInfoOf(identity, body) });
  }

  /** Before the request has an answer, so that the status can say which scope is missing. */
  #checkScope({ body, identity }: Exchange): void {
    for (const name of calledTools(body)) {
      const refusal = this.#partsOf(identity).refusal?.(name);
      if (refusal) throw refusal;
    }
  }

  async close(): Promise<void> {
    await (await this.#stateless)?.close();
  }

  async #createStateless(): Promise<McpHttpHandler> {
    const { createMcpHandler } = await loadSdk();
    const partsFor = ({ identity, body }: Asked) => needed(this.#partsOf(identity), body);
    return createMcpHandler(({ authInfo }) => createServer(partsFor(authInfo?.extra as unknown as Asked)), {
      legacy: 'reject',
    });
  }
}

/** The tools that a message, or a batch of them, calls. */
function calledTools(body: unknown): string[] {
  const messages = [body].flat() as ({ method?: unknown; params?: { name?: unknown } } | null)[];
  return messages.filter((one) => one?.method === 'tools/call').map((one) => String(one?.params?.name));
}

type Asked = Pick<Exchange, 'identity' | 'body'>;

/** A call needs one tool: to register all of them would take longer than the call. */
function needed(parts: McpParts, body: unknown): McpParts {
  const names = calledTools(body);
  const called = parts.tools.filter(({ name }) => names.includes(name));
  return called.length > 0 ? { ...parts, tools: called } : parts;
}
