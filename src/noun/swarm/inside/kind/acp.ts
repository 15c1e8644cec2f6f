/**
 * Any agent that speaks the Agent Client Protocol on its stdio: one process and one session per story. The agent opens
 * files and starts programs in the sandbox itself, so this client offers it neither.
 */
import { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type AnyMessage,
  type ClientContext,
  client,
  type McpServer,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
} from '@agentclientprotocol/sdk';
import { Lines } from '../../../../lib/wire/lines.ts';
import { authMethodFor, authRequired } from '../../../agent/inside/acp/authentication.ts';
import { answerPermission } from '../../../agent/inside/acp/permission.ts';
import { AdapterError } from '../../../agent/inside/adapter-error.ts';
import { Group } from '../../../agent/inside/group.ts';
import { LastLines, maxLines } from '../../../agent/inside/last-lines.ts';
import { mcpList } from '../../../agent/inside/mcp/list.ts';
import type { AcpSpec } from '../../../agent/model/agent.ts';
import { acpServers, usableServers } from '../../../agent/model/mcp.ts';
import type { AgentResult, Assignment, Reporter, RunAgent } from '../inside.ts';

const maxMessageBytes = 16 * 1024 ** 2;
const maxLineBytes = 64 * 1024;
/** Time for an agent to exit after its input has ended; then it is stopped. */
const leaveMs = 1000;

export function acpAgent(spec: AcpSpec): RunAgent {
  return async (assignment, reporter, signal) => {
    const group = new Group({ command: spec.command, cwd: assignment.folder, env: assignment.env });
    const stop = () => void group.stop();
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    const words = new LastLines();
    const complaints = new Lines(maxLineBytes);
    group.stderr.on('data', (chunk: Buffer) => words.add(...complaints.push(chunk).slice(-maxLines)));
    const crashed = group.ended.then((exitCode): AgentResult => crash(spec, exitCode, words.toString()));
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
    const failure = new AdapterError(
      'ACP_CONNECTION_LOST',
      `the connection to the agent was lost: ${messageOf(error)}`,
    );
    return Promise.race([crashed, pause(leaveMs).then(() => Promise.reject(failure))]);
  };
}

function messageOf(error: unknown): string {
  const { message } = (error ?? {}) as { message?: unknown };
  return typeof message === 'string' ? message : JSON.stringify(error);
}

function crash({ command }: AcpSpec, exitCode: number, words: string): AgentResult {
  const summary = `${command[0]} ended with ${exitCode} before it finished its work${words && `: ${words}`}`;
  return { status: 'failed', summary, code: 'AGENT_CRASH' };
}

function converse(
  group: Group,
  spec: AcpSpec,
  { folder, prompt }: Assignment,
  reporter: Reporter,
): Promise<AgentResult> {
  const speech = new Speech(reporter);
  const app = client({ name: 'carrel' }).onRequest(methods.client.session.requestPermission, ({ params }) => ({
    outcome: answerPermission(spec, params.toolCall.kind ?? 'other', params.options),
  }));
  const output = Readable.toWeb(group.stdout) as ReadableStream<Uint8Array>;
  const lines = ndJsonStream(Writable.toWeb(group.stdin), output, { maxMessageBytes });
  const stream = { writable: lines.writable, readable: lines.readable.pipeThrough(withoutUpdates(speech)) };
  return app.connectWith(stream, async (agent) => {
    const sessionId = await openSession(agent, spec, folder);
    const { stopReason } = await agent.request(methods.agent.session.prompt, {
      sessionId,
      prompt: [{ type: 'text', text: prompt }],
    });
    return resultOf(stopReason, speech.end());
  });
}

async function openSession(agent: ClientContext, spec: AcpSpec, folder: string): Promise<string> {
  const { authMethods = [], agentCapabilities } = await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    clientInfo: { name: 'carrel', version: '0' },
  });
  const takesHttp = agentCapabilities?.mcpCapabilities?.http === true;
  const mcpServers = usableServers(acpServers(mcpList().servers), takesHttp) as unknown as McpServer[];
  const open = () => agent.request(methods.agent.session.new, { cwd: folder, mcpServers });
  const { sessionId } = await open().catch(async (error: unknown) => {
    if ((error as { code?: unknown } | null)?.code !== authRequired) throw error;
    await agent.request(methods.agent.authenticate, { methodId: authMethodFor(spec, authMethods) });
    return open();
  });
  return sessionId;
}

function resultOf(stopReason: string, summary: string): AgentResult {
  if (stopReason === 'end_turn') return { status: 'completed', summary, code: null };
  const said = `the agent stopped with ${stopReason}${summary && `: ${summary}`}`;
  return { status: 'failed', summary: said, code: null };
}

/** Keeps updates from the ACP library: their kinds change between versions of the protocol, and none is required. */
function withoutUpdates(speech: Speech): TransformStream<AnyMessage, AnyMessage> {
  return new TransformStream({
    transform: (message, rest) => {
      const isUpdate = 'method' in message && message.method === methods.client.session.update;
      if (isUpdate) speech.take(updateIn(message.params));
      else rest.enqueue(message);
    },
  });
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
    this.#reporter.stirred();
    if (update.sessionUpdate === 'agent_message_chunk') {
      const { text } = (update.content ?? {}) as { text?: unknown };
      if (typeof text === 'string') this.#say(this.#lines.push(Buffer.from(text)));
    } else if (update.sessionUpdate === 'tool_call' && typeof update.title === 'string') {
      this.#say(this.#lines.end());
      this.#message = new LastLines();
      this.#reporter.said(`[${update.title.split('\n')[0]}]`);
    }
  }

  end(): string {
    this.#say(this.#lines.end());
    return this.#message.toString();
  }

  #say(lines: readonly string[]): void {
    this.#message.add(...lines);
    this.#reporter.said(...lines);
  }
}
