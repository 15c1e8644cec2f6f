/** The list of MCP servers that agents of a sandbox get, written before each start. */
import type { SandboxPart } from '../../../sandbox/part/part.ts';
import type { AgentServers } from './agent-servers.ts';

export function mcpPart(servers: Pick<AgentServers, 'provide'>): SandboxPart {
  return { prepare: (sandbox) => servers.provide(sandbox) };
}
