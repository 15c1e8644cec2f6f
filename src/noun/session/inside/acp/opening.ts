/** Opens the session of an agent: the one it knows, a fork of another one, or a new one. */

import { initialize, openAuthenticated, requiresAuthentication, sessionIdIn } from '../../../agent/inside/acp/acp.ts';
import { type AcpPeer, RpcError } from '../../../agent/inside/acp/peer.ts';
import type { AcpSpec } from '../../../agent/model/agent.ts';
import { usableServers } from '../../../agent/model/mcp.ts';
import type { DriverOptions } from '../driver/driver.ts';

type Json = Readonly<Record<string, unknown>>;

export interface OpenedAgentSession {
  readonly agentSessionId: string;
  /** The agent's answer to the request that opened the session. */
  readonly answer: Json;
  readonly canLoad: boolean;
  readonly canFork: boolean;
  /** A note for the user; null: none. */
  readonly note: string | null;
}

interface Agent {
  readonly peer: AcpPeer;
  readonly spec: AcpSpec;
  readonly options: DriverOptions;
  readonly mcpServers: readonly Json[];
}

export async function openSession(agent: Agent): Promise<OpenedAgentSession> {
  const { peer, spec } = agent;
  const initialized = await initialize(peer, { elicitation: { form: {} } });
  const { can } = initialized;
  const [canResume, canFork] = [can.sessionCapabilities?.resume, can.sessionCapabilities?.fork].map(isObject);
  const method = canResume ? 'session/resume' : can.loadSession ? 'session/load' : null;
  const abilities = { canLoad: method !== null, canFork: canFork ?? false };
  const mcpServers = usableServers(agent.mcpServers, can.mcpCapabilities?.http === true);
  const open = () => openBy({ ...agent, mcpServers }, method, abilities.canFork);
  return { ...(await openAuthenticated(peer, spec, initialized, open)), ...abilities };
}

type Way = Omit<OpenedAgentSession, 'canLoad' | 'canFork'>;

async function openBy(agent: Agent, load: string | null, canFork: boolean): Promise<Way> {
  const { agentSessionId, forkOf } = agent.options.known;
  if (agentSessionId !== undefined && load) {
    const opened = await attempt(agent, load, agentSessionId);
    return 'answer' in opened ? { ...opened, agentSessionId } : openNew(agent, opened.reason);
  }
  if (agentSessionId === undefined && forkOf !== undefined && canFork) {
    const opened = await attempt(agent, 'session/fork', forkOf);
    if ('reason' in opened) return openNew(agent, opened.reason);
    return { ...opened, agentSessionId: sessionIdIn(opened.answer) };
  }
  return openNew(agent, 'it cannot load a session');
}

type Attempt = { readonly answer: Json; readonly note: null } | { readonly reason: string };

/** Returns the reason if the agent cannot open the session. Throws if the agent is lost or requires authentication. */
async function attempt({ peer, options, mcpServers }: Agent, method: string, sessionId: string): Promise<Attempt> {
  try {
    const answer = await peer.request(method, { sessionId, cwd: options.cwd, mcpServers });
    return { answer: (answer ?? {}) as Json, note: null };
  } catch (error) {
    if (!(error instanceof RpcError) || requiresAuthentication(error)) throw error;
    return { reason: error.message };
  }
}

async function openNew({ peer, options, mcpServers }: Agent, reason: string): Promise<Way> {
  const answer = (await peer.request('session/new', { cwd: options.cwd, mcpServers })) as Json;
  const note = `The agent was started again and does not remember earlier messages: ${reason}.`;
  return { agentSessionId: sessionIdIn(answer), answer, note: options.hasHistory ? note : null };
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
