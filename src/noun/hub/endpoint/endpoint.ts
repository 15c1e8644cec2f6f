/**
 * MCP at the port: Streamable HTTP in both generations of the protocol. Requests of revision 2026-07-28 stand alone; older ones belong
 * to a session. The caller of this file has authenticated the request and read its body.
 */
import type { McpHttpHandler } from '@modelcontextprotocol/server';
import type { Fault } from '../../../model/fault.ts';
import { createServer, loadSdk, type McpParts } from '../mcp/mcp.ts';
import { revocable } from '../mcp/revocation.ts';
import type { ClientIdentity } from '../token/authentication.ts';
import type { ClientTable, Revocable } from './client-table.ts';
import { authInfoOf, type Exchange, refusal } from './exchange.ts';
import { McpSessions } from './mcp-sessions.ts';

const methods = ['GET', 'POST', 'DELETE'];

export class McpEndpoint {
  readonly #partsOf: (identity: ClientIdentity) => McpParts;
  readonly #clients: ClientTable;
  readonly #sessions: McpSessions;
  #stateless: Promise<McpHttpHandler> | undefined;

  constructor(clients: ClientTable, partsOf: (identity: ClientIdentity) => McpParts) {
    this.#partsOf = partsOf;
    this.#clients = clients;
    this.#sessions = new McpSessions(clients, partsOf);
  }

  async answer(exchange: Exchange): Promise<Response> {
    const { request, body } = exchange;
    if (!methods.includes(request.method)) return refusal(405, -32000, 'Method not allowed.');
    this.#checkScope(exchange);
    const { isLegacyRequest } = await loadSdk();
    if (await isLegacyRequest(request, body)) return this.#sessions.answer(exchange);
    return this.#answerStateless(exchange);
  }

  async #answerStateless(exchange: Exchange): Promise<Response> {
    const { request, body, identity, ended } = exchange;
    const alone = new LoneRequest(exchange);
    this.#clients.follow(alone, ended);
    this.#stateless ??= this.#createStateless();
    return (await this.#stateless).fetch(request, { parsedBody: body, authInfo: authInfoOf(identity, { alone }) });
  }

  /** Runs before the answer begins, so that the HTTP status can say which scope is missing. */
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
    const partsFor = ({ alone }: { readonly alone: LoneRequest }) => alone.needed(this.#partsOf(alone.identity));
    return createMcpHandler(({ authInfo }) => createServer(partsFor(authInfo?.extra as never)), { legacy: 'reject' });
  }
}

/** The tools that a message, or a batch of them, calls. */
function calledTools(body: unknown): string[] {
  const messages = [body].flat() as ({ method?: unknown; params?: { name?: unknown } } | null)[];
  return messages.filter((one) => one?.method === 'tools/call').map((one) => String(one?.params?.name));
}

/** A request that belongs to no session. */
class LoneRequest implements Revocable {
  readonly identity: ClientIdentity;
  readonly #exchange: Exchange;
  readonly #names: readonly string[];
  readonly #revoked = new AbortController();

  constructor(exchange: Exchange) {
    this.identity = exchange.identity;
    this.#exchange = exchange;
    this.#names = calledTools(exchange.body);
  }

  /** Keeps only the tools that the request calls: registering all of them takes longer than a call. */
  needed(parts: McpParts): McpParts {
    const called = parts.tools.filter(({ name }) => this.#names.includes(name));
    if (called.length === 0) return parts;
    return { ...revocable(parts, this.#revoked.signal), tools: called };
  }

  /**
   * A call is answered with the reason. Other requests, such as a stream of notifications, have no answer and are
   * dropped.
   */
  close(reason: Fault): void {
    this.#revoked.abort(reason);
    if (this.#names.length === 0) this.#exchange.drop();
  }
}
