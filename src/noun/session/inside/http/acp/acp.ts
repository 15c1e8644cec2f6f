/**
 * `/v1/acp/{id}`: the Agent Client Protocol over HTTP, as clients of sandbox-agent speak it. The client makes the id of its connection, sends each message by
 * POST, and reads requests and updates from a stream of server-sent events.
 */
import { Fault } from '../../../../../model/fault.ts';
import type { AgentSessions } from '../../inside.ts';
import { type HttpCall, readJson } from '../call.ts';
import { eventStream } from '../event-stream.ts';
import { faultOf, type Reply } from '../reply.ts';
import type { RouteTable } from '../route.ts';
import { afterOf } from '../session-routes.ts';
import { AcpConnection } from './acp-connection.ts';
import { type AcpMessage, errorOf, message } from './shape.ts';

const accepted: Reply = { status: 202, json: undefined };
const maxConnections = 100;
const idPattern = /^[\w.~-]{1,128}$/;

export class AcpConnections {
  readonly #sessions: AgentSessions;
  readonly #open = new Map<string, AcpConnection>();

  constructor(sessions: AgentSessions) {
    this.#sessions = sessions;
  }

  readonly routes: RouteTable = {
    'GET /v1/acp': ({ settings }) => ({
      json: {
        servers: [...this.#open].map(([serverId, { agent = settings.defaultAgent, createdAtMs }]) => ({
          serverId,
          agent,
          createdAtMs,
        })),
      },
    }),
    'POST /v1/acp/{id}': (call) => this.#post(call),
    'GET /v1/acp/{id}': (call) => {
      const { outbox } = this.#find(call);
      return eventStream(outbox.follow(afterOf(call, outbox.last), call.signal));
    },
    'DELETE /v1/acp/{id}': ({ params }) => {
      this.#close(params.id!);
      return { json: undefined };
    },
  };

  dispose(): void {
    for (const id of [...this.#open.keys()]) this.#close(id);
  }

  #close(id: string): void {
    this.#open.get(id)?.dispose();
    this.#open.delete(id);
  }

  async #post(call: HttpCall): Promise<Reply> {
    const { id, method, params, result } = await readJson(call, message);
    const connection = this.#connection(call, method);
    if (method === undefined) await connection.respond(id, result);
    else if (id === undefined) await connection.notify(method, params);
    else return this.#request(connection, { id, method, params });
    return accepted;
  }

  /** A client with a stream gets the answer to a prompt there: while its POST waits, it could not answer questions. */
  async #request(connection: AcpConnection, { id, method = '', params }: AcpMessage): Promise<Reply> {
    const response = connection.request(method, params).then(
      (result) => ({ id, result }),
      (error: unknown) => ({ id, error: errorOf(faultOf(error)) }),
    );
    if (method !== 'session/prompt' || connection.outbox.readers === 0)
      return { json: { jsonrpc: '2.0', ...(await response) } };
    void response.then((envelope) => connection.outbox.push(envelope));
    return accepted;
  }

  #find({ params }: HttpCall): AcpConnection {
    const found = this.#open.get(params.id!);
    if (found) return found;
    throw new Fault('not_found', 'there is no such connection', { hint: 'Send initialize first.' });
  }

  #connection(call: HttpCall, method: string | undefined): AcpConnection {
    const agent = call.query.get('agent') ?? undefined;
    const found = this.#open.get(call.params.id!);
    if (found === undefined && (agent !== undefined || method === 'initialize'))
      return this.#create(call.params.id!, agent);
    const connection = found ?? this.#find(call);
    if (agent !== undefined && agent !== connection.agent)
      throw new Fault(
        'conflict',
        `this connection is to the agent ${connection.agent ?? 'of the sandbox'}, not ${agent.slice(0, 100)}`,
      );
    return connection;
  }

  #create(id: string, agent: string | undefined): AcpConnection {
    if (!idPattern.test(id))
      throw new Fault('invalid', 'the id of a connection has 1 to 128 letters, digits, ".", "~", "-" and "_"');
    if (this.#open.size >= maxConnections) this.#makeRoom();
    const connection = new AcpConnection(this.#sessions, agent);
    this.#open.set(id, connection);
    return connection;
  }

  #makeRoom(): void {
    const [oldest] = [...this.#open].find(([, connection]) => connection.isIdle) ?? [];
    if (oldest === undefined)
      throw new Fault('exhausted', `${maxConnections} connections are in use`, {
        hint: 'Close one: DELETE /v1/acp/ID',
      });
    this.#close(oldest);
  }
}
