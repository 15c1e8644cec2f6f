/**
 * Streamable HTTP for the revisions before 2026-07-28: `initialize` opens a session, later requests name it. Streams
 * can be resumed. A session belongs to the token that opened it; for any other token it does not exist.
 */
import { randomUUID } from 'node:crypto';
import type { McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { withTimeout } from '../../../lib/flow/with-timeout.ts';
import type { Fault } from '../../../model/fault.ts';
import { createServer, loadSdk, type McpParts } from '../mcp/mcp.ts';
import { revocable } from '../mcp/revocation.ts';
import type { ClientIdentity } from '../token/authentication.ts';
import type { ClientTable, HubClient } from './client-table.ts';
import { EventLog } from './event-log.ts';
import { authInfoOf, type Exchange, refusal } from './exchange.ts';

const sessionHeader = 'mcp-session-id';
const answerMs = 1000;
const eventLimits = { count: 1000, bytes: 1024 * 1024 };

export class McpSessions {
  readonly #clients: ClientTable;
  readonly #partsOf: (identity: ClientIdentity) => McpParts;
  readonly #sessions = new Map<string, Session>();

  constructor(clients: ClientTable, partsOf: (identity: ClientIdentity) => McpParts) {
    this.#clients = clients;
    this.#partsOf = partsOf;
  }

  async answer(exchange: Exchange): Promise<Response> {
    const { request, identity } = exchange;
    const id = request.headers.get(sessionHeader);
    if (id === null) return this.#open(exchange);
    const session = this.#sessions.get(id);
    if (session?.identity.caller.name !== identity.caller.name) return refusal(404, -32001, 'Session not found');
    return session.answer(exchange);
  }

  async #open(exchange: Exchange): Promise<Response> {
    const { isInitializeRequest } = await loadSdk();
    if (!isInitializeRequest(exchange.body))
      return refusal(400, -32000, 'Bad Request: Mcp-Session-Id header is required');
    const session = new Session(exchange.identity, () => this.#forget(session));
    this.#clients.add(session);
    this.#sessions.set(session.id, session);
    await session.open(this.#partsOf(exchange.identity));
    return session.answer(exchange);
  }

  #forget(session: Session): void {
    this.#sessions.delete(session.id);
    this.#clients.delete(session);
  }
}

class Session implements HubClient {
  readonly id = randomUUID();
  readonly identity: ClientIdentity;
  usedAtMs = Date.now();
  readonly #onClose: () => void;
  #transport: WebStandardStreamableHTTPServerTransport | undefined;
  #server: McpServer | undefined;
  readonly #revoked = new AbortController();
  readonly #answers = new Set<Promise<void>>();
  #open = 0;

  constructor(identity: ClientIdentity, onClose: () => void) {
    this.identity = identity;
    this.#onClose = onClose;
  }

  get isBusy(): boolean {
    return this.#open > 0;
  }

  async open(parts: McpParts): Promise<void> {
    const { WebStandardStreamableHTTPServerTransport } = await loadSdk();
    const eventStore = new EventLog(eventLimits);
    this.#transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => this.id, eventStore });
    this.#server = await createServer(revocable(parts, this.#revoked.signal));
    await this.#server.connect(this.#transport);
    this.#server.server.onclose = this.#onClose;
  }

  async answer({ request, identity, body, ended }: Exchange): Promise<Response> {
    this.#open += 1;
    if (request.method === 'POST') this.#answers.add(ended);
    void ended.then(() => {
      this.#open -= 1;
      this.#answers.delete(ended);
      this.usedAtMs = Date.now();
    });
    return this.#transport!.handleRequest(request, { parsedBody: body, authInfo: authInfoOf(identity) });
  }

  /**
   * If the token is no longer valid, the open calls are answered before the session closes: a client whose stream ends
   * without an answer may wait for it for a long time.
   */
  close(reason: Fault): void {
    this.#onClose();
    if (reason.code === 'unauthenticated') this.#revoked.abort(reason);
    const answered = this.#revoked.signal.aborted ? Promise.all(this.#answers) : Promise.resolve([]);
    void withTimeout(answerMs, answered, () => []).then(() => this.#server?.close());
  }
}
