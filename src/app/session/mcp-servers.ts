/** The MCP servers that the agents of a sandbox get when their session is opened, as `mcpServers` of the Agent Client Protocol. */
import type { Sandbox } from '../../model/sandbox.ts';

export interface McpServer {
  readonly name: string;
  /** Inside the sandbox. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
}

const rooms: McpServer = { name: 'rooms', command: '/opt/carrel/bin/carrel-room', args: ['mcp'], env: [] };

export function mcpServersOf({ spec }: Pick<Sandbox, 'spec'>): McpServer[] {
  return [...(spec.rooms?.length ? [rooms] : [])];
}
