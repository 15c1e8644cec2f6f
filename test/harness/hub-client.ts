/** The official MCP client over `carrel hub serve`, or over the port of the hub. */
import { resolve } from 'node:path';
import {
  type CallToolResult,
  Client,
  type ElicitResult,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { bearer, WebSocketTransport } from '../fixtures/mcp-port.ts';
import type { Installation } from './installation.ts';
import { runEnv } from './run.ts';

export interface HubOptions {
  /** Asks for the newest revision of the protocol. */
  readonly modern?: boolean;
  /** Arguments of `hub serve`. */
  readonly args?: readonly string[];
  /** Absent: stdio. */
  readonly port?: { readonly kind: 'HTTP' | 'WebSocket'; readonly url: string; readonly token: string };
  /** Answers questions to the person; absent: the client cannot ask. */
  readonly answer?: (message: string) => Promise<ElicitResult> | ElicitResult;
}

export async function connectHub(carrel: Installation, options: HubOptions = {}): Promise<Client> {
  const { modern = true, answer } = options;
  const client = new Client(
    { name: 'test', version: '1' },
    {
      ...(modern ? { versionNegotiation: { mode: 'auto' as const } } : {}),
      ...(answer ? { capabilities: { elicitation: { form: {} } } } : {}),
    },
  );
  if (answer) client.setRequestHandler('elicitation/create', async ({ params }) => answer(params.message));
  await client.connect(transportOf(carrel, options));
  return client;
}

function transportOf({ home }: Installation, { args = [], port }: HubOptions): Transport {
  if (port?.kind === 'WebSocket') return new WebSocketTransport(port.url, port.token);
  if (port)
    return new StreamableHTTPClientTransport(new URL(port.url), { requestInit: { headers: bearer(port.token) } });
  const env = { PATH: process.env.PATH!, HOME: home, CARREL_HOME: home, ...runEnv() };
  const command = [resolve('bin/carrel'), 'hub', 'serve', ...args];
  return new StdioClientTransport({ command: process.execPath, args: command, env });
}

/** Returns the structured answer of a tool; throws the text of a refusal. */
export async function callTool(client: Client, name: string, input: object): Promise<Record<string, unknown>> {
  const result = (await client.callTool({ name, arguments: { ...input } })) as CallToolResult;
  if (result.isError) throw new Error((result.content[0] as { text: string }).text);
  return result.structuredContent as Record<string, unknown>;
}
