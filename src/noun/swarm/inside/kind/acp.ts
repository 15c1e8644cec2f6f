/**
 * Any agent that speaks the Agent Client Protocol on its stdio: one process and one session per story. The agent opens
 * files and starts programs in the sandbox itself, so this client offers it neither.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Lines } from '../../../../lib/wire/lines.ts';
import { clip } from '../../../../model/shape.ts';
import { initialize, openAuthenticated, sessionIdIn } from '../../../agent/inside/acp/acp.ts';
import { AcpPeer } from '../../../agent/inside/acp/peer.ts';
import { answerPermission, permissionRequest } from '../../../agent/inside/acp/permission.ts';
import { AdapterError } from '../../../agent/inside/adapter-error.ts';
import { Group } from '../../../agent/inside/group.ts';
import { LastLines, maxLines } from '../../../agent/inside/last-lines.ts';
import { mcpList } from '../../../agent/inside/mcp/list.ts';
import type { AcpSpec } from '../../../agent/model/agent.ts';
import { acpServers, usableServers } from '../../../agent/model/mcp.ts';
import type { AgentResult, Assignment, Reporter, RunAgent } from '../inside.ts';

const maxLineBytes = 64 * 1024;
const maxReasonChars = 100;
/** Time for an agent to exit after its input has ended; then it is stopped. */
const leaveMs = 1000;

export function acpAgent(spec: AcpSpec): RunAgent {
  return async (assignment, reporter, signal) => {
    const group = new Group({ command: spec.command, cwd: assignment.folder, env: assignment.env });
    const stop = () => void group.stop();
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    const lastErrors = new LastLines();
    const stderr = new Lines(maxLineBytes);
    group.stderr.on('data', (chunk: Buffer) => lastErrors.add(...stderr.push(chunk).slice(-maxLines)));
    const crashed = group.ended.then((exitCode): AgentResult => crash(spec, exitCode, lastErrors.toString()));
    try {
      return await Promise.race([crashed, converse(group, spec, assignment, reporter).catch(lost(crashed))]);
    } finally {
      group.stdin.end();
      await Promise.race([group.ended.catch(() => {}), pause(leaveMs)]);
      await group.stop();
      signal.removeEventListener('abort', stop);
    }
  };
}

/** A connection that is lost because the agent ended is a crash; otherwise the error is ACP_CONNECTION_LOST. */
function lost(crashed: Promise<AgentResult>): (error: unknown) => Promise<AgentResult> {
  return (error) => {
    if (error instanceof AdapterError) throw error;
    const { message } = error as Error;
    const failure = new AdapterError('ACP_CONNECTION_LOST', `the connection to the agent was lost: ${message}`);
    return Promise.race([crashed, pause(leaveMs).then(() => Promise.reject(failure))]);
  };
}

function crash({ command }: AcpSpec, exitCode: number, lastErrors: string): AgentResult {
  const summary = `${command[0]} ended with ${exitCode} before it finished its work${lastErrors && `: ${lastErrors}`}`;
  return { status: 'failed', summary, code: 'AGENT_CRASH' };
}

async function converse(
  group: Group,
  spec: AcpSpec,
  { folder, prompt }: Assignment,
  reporter: Reporter,
): Promise<AgentResult> {
  const speech = new Speech(reporter);
  const peer = new AcpPeer(group.stdout, group.stdin, {
    notified: async (method, params) => {
      if (method === 'session/update') speech.take(updateIn(params));
    },
    requested: (method, params) => (method === 'session/request_permission' ? permitted(spec, params) : null),
  });
  const sessionId = await openSession(peer, spec, folder);
  const answer = await peer.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: prompt }] });
  return resultOf(answer, speech.end());
}

async function permitted(spec: AcpSpec, params: unknown): Promise<unknown> {
  const { kind, options } = permissionRequest(params);
  return { outcome: answerPermission(spec, kind, options) };
}

async function openSession(peer: AcpPeer, spec: AcpSpec, folder: string): Promise<string> {
  const agent = await initialize(peer);
  const mcpServers = usableServers(acpServers(mcpList().servers), agent.can.mcpCapabilities?.http === true);
  const open = () => peer.request('session/new', { cwd: folder, mcpServers });
  return sessionIdIn(await openAuthenticated(peer, spec, agent, open));
}

function resultOf(answer: unknown, summary: string): AgentResult {
  const { stopReason } = (answer ?? {}) as { readonly stopReason?: unknown };
  if (stopReason === 'end_turn') return { status: 'completed', summary, code: null };
  const reason = typeof stopReason === 'string' ? clip(stopReason, maxReasonChars) : 'no reason';
  return { status: 'failed', summary: `the agent stopped with ${reason}${summary && `: ${summary}`}`, code: null };
}

interface Update {
  readonly sessionUpdate?: unknown;
  readonly content?: unknown;
  readonly title?: unknown;
}

function updateIn(params: unknown): Update {
  const { update } = (params ?? {}) as { update?: unknown };
  return typeof update === 'object' && update !== null ? update : {};
}

/** The agent's text arrives in pieces and is reported in lines; its last message is the summary. */
class Speech {
  readonly #reporter: Reporter;
  #lines = new Lines(maxLineBytes);
  #message = new LastLines();

  constructor(reporter: Reporter) {
    this.#reporter = reporter;
  }

  take(update: Update): void {
    this.#reporter.active();
    if (update.sessionUpdate === 'agent_message_chunk') {
      const { text } = (update.content ?? {}) as { text?: unknown };
      if (typeof text === 'string') this.#say(this.#lines.push(Buffer.from(text)));
    } else if (update.sessionUpdate === 'tool_call' && typeof update.title === 'string') {
      this.#say(this.#lines.end());
      this.#message = new LastLines();
      this.#reporter.output(`[${update.title.split('\n')[0]}]`);
    }
  }

  end(): string {
    this.#say(this.#lines.end());
    return this.#message.toString();
  }

  #say(lines: readonly string[]): void {
    const last = lines.slice(-maxLines);
    this.#message.add(...last);
    this.#reporter.output(...last);
  }
}
