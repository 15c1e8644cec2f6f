/**
 * The client of agents that speak the Agent Client Protocol on their stdio, for swarms and for the agent API.
 *
 * A conversation: `initialize` → a session is opened, after `authenticate` if the agent requires it → prompts, each with updates and
 * requests of the agent until its answer → the agent's process ends. `peer.ts` carries the messages; `permission.ts` answers requests for
 * permission by the owner's rules.
 *
 * Promises: the agent may be hostile. The size of its messages and the number of its open requests are limited, and nothing that it sends has
 * to have the shape that the protocol demands. It opens files and starts programs in the sandbox itself, so the client offers it neither.
 */
import { Fault } from '../../../../model/fault.ts';
import type { AcpSpec } from '../../model/agent.ts';
import { AdapterError } from '../adapter-error.ts';
import { type AcpPeer, RpcError } from './peer.ts';

/** The error code with which an agent requires authentication. */
const authRequired = -32_000;
const maxIdLength = 1000;

export type AcpRequests = Pick<AcpPeer, 'request'>;

export interface InitializedAgent {
  /** Which of the optional methods and forms of MCP servers it supports. */
  readonly can: AgentCapabilities;
  readonly authMethods: readonly { readonly id: string }[];
}

export interface AgentCapabilities {
  readonly loadSession?: boolean;
  readonly mcpCapabilities?: { readonly http?: unknown };
  readonly sessionCapabilities?: { readonly resume?: unknown; readonly fork?: unknown };
}

/** `offered` are further capabilities of this client. */
export async function initialize(peer: AcpRequests, offered: object = {}): Promise<InitializedAgent> {
  const answer = (await peer.request('initialize', {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false, ...offered },
    clientInfo: { name: 'carrel', version: '0' },
  })) as { readonly agentCapabilities?: AgentCapabilities | null; readonly authMethods?: unknown } | null;
  const methods: readonly unknown[] = Array.isArray(answer?.authMethods) ? answer.authMethods : [];
  const authMethods = methods.filter((one): one is { id: string } => typeof (one as { id?: unknown })?.id === 'string');
  return { can: answer?.agentCapabilities ?? {}, authMethods };
}

/** Opens a session. If the agent requires authentication, it is authenticated first, and the session is opened again. */
export async function openAuthenticated<T>(
  peer: AcpRequests,
  spec: AcpSpec,
  agent: InitializedAgent,
  open: () => Promise<T>,
): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!requiresAuthentication(error)) throw error;
    await peer.request('authenticate', { methodId: authMethodFor(spec, agent) });
    return open();
  }
}

export function requiresAuthentication(error: unknown): boolean {
  return error instanceof RpcError && error.code === authRequired;
}

/** No user can log in interactively in a sandbox, so only a method that accepts a key is usable. */
function authMethodFor({ authenticate }: AcpSpec, { authMethods }: InitializedAgent): string {
  const ids = authMethods.map(({ id }) => id);
  const found = ids.find((id) => (authenticate === undefined ? /api.?key/i.test(id) : id === authenticate));
  if (found !== undefined) return found;
  const offers = ids.length === 0 ? 'offers no method' : `offers only ${ids.join(', ')}`;
  throw new AdapterError(
    'MISSING_ENV_VAR',
    `the agent requires authentication and ${offers}; name the method as \`authenticate\` of this agent in config.yaml`,
  );
}

/** The id in the answer to a request that opened a session. */
export function sessionIdIn(answer: unknown): string {
  const id = (answer as { readonly sessionId?: unknown } | null | undefined)?.sessionId;
  if (typeof id === 'string' && id.length < maxIdLength) return id;
  throw new Fault('unsupported', 'the agent opened a session without an id');
}
