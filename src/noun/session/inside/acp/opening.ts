/** Opens the session of an agent: the one it knows, a fork of another one, or a new one. */

import { Fault } from '../../../../model/fault.ts';
import { authMethodFor, authRequired } from '../../../agent/inside/acp/authentication.ts';
import { type AcpPeer, RpcError } from '../../../agent/inside/acp/peer.ts';
import type { AcpSpec } from '../../../agent/model/agent.ts';
import { usableServers } from '../../../agent/model/mcp.ts';
import type { DriverOptions } from '../driver.ts';

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

interface Capabilities {
  readonly loadSession?: boolean;
  readonly mcpCapabilities?: { readonly http?: unknown };
  readonly sessionCapabilities?: { readonly resume?: unknown; readonly fork?: unknown };
}

export async function openSession(agent: Agent): Promise<OpenedAgentSession> {
  const initialized = (await agent.peer.request('initialize', {
    protocolVersion: 1,
    clientCapabilities: {
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
      elicitation: { form: {} },
    },
    clientInfo: { name: 'carrel', version: '0' },
  })) as {
    readonly agentCapabilities?: Capabilities;
    readonly authMethods?: readonly { readonly id: string }[];
  } | null;
  const { agentCapabilities: can = {}, authMethods = [] } = initialized ?? {};
  const [canResume, canFork] = [can.sessionCapabilities?.resume, can.sessionCapabilities?.fork].map(isObject);
  const method = canResume ? 'session/resume' : can.loadSession ? 'session/load' : null;
  const abilities = { canLoad: method !== null, canFork: canFork ?? false };
  const mcpServers = usableServers(agent.mcpServers, can.mcpCapabilities?.http === true);
  const open = () => openBy({ ...agent, mcpServers }, method, abilities.canFork);
  const opened = await open().catch(async (error: unknown) => {
    if (!(error instanceof RpcError) || error.code !== authRequired) throw error;
    await agent.peer.request('authenticate', { methodId: authMethodFor(agent.spec, authMethods) });
    return open();
  });
  return { ...opened, ...abilities };
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
    return { ...opened, agentSessionId: idOf(opened.answer) };
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
    if (!(error instanceof RpcError) || error.code === authRequired) throw error;
    return { reason: error.message };
  }
}

async function openNew({ peer, options, mcpServers }: Agent, reason: string): Promise<Way> {
  const answer = (await peer.request('session/new', { cwd: options.cwd, mcpServers })) as Json;
  const note = `The agent was started again and does not remember earlier messages: ${reason}.`;
  return { agentSessionId: idOf(answer), answer, note: options.hasHistory ? note : null };
}

function idOf(answer: Json | null): string {
  const id = answer?.sessionId;
  if (typeof id === 'string' && id.length < 1000) return id;
  throw new Fault('unsupported', 'the agent opened a session without an id');
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
