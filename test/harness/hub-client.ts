/** The official MCP client over `carrel hub serve`. */
import { resolve } from 'node:path';
import { type CallToolResult, Client, type ElicitResult } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Installation } from './installation.ts';
import { runEnv } from './run.ts';

export interface HubOptions {
  /** Asks for the newest revision of the protocol. */
  readonly modern?: boolean;
  /** Of `hub serve`. */
  readonly args?: readonly string[];
  /** Answers questions to the person; left out, the client cannot ask. */
  readonly answer?: (message: string) => Promise<ElicitResult> | ElicitResult;
}

export async function connectHub(carrel: Installation, options: HubOptions = {}): Promise<Client> {
  const { modern = true, args = [], answer } = options;
  const client = new Client(
    { name: 'test', version: '1' },
    {
      ...(modern ? { versionNegotiation: { mode: 'auto' as const } } : {}),
      ...(answer ? { capabilities: { elicitation: { form: {} } } } : {}),
    },
  );
  if (answer) client.setRequestHandler('elicitation/create', async ({ params }) => answer(params.message));
  const env = { PATH: process.env.PATH!, HOME: carrel.home, CARREL_HOME: carrel.home, ...runEnv() };
  const command = [resolve('bin/carrel'), 'hub', 'serve', ...args];
  await client.connect(new StdioClientTransport({ command: process.execPath, args: command, env }));
  return client;
}

/** The structured answer of a tool; a refusal is thrown with its text. */
export async function callTool(client: Client, name: string, input: object): Promise<Record<string, unknown>> {
  const result = (await client.callTool({ name, arguments: { ...input } })) as CallToolResult;
  if (result.isError) throw new Error((result.content[0] as { text: string }).text);
  return result.structuredContent as Record<string, unknown>;
}
