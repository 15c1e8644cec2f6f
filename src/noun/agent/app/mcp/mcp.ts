/** The MCP servers that agents of a sandbox find configured. */

import { declare } from '../../../../kernel/server/route.ts';
import type { Sandbox } from '../../../sandbox/model.ts';
import { mcpView } from '../../api/mcp.ts';
import { isLocal, type McpServers } from '../../model/mcp.ts';

export interface McpScopeParts {
  readonly agentServers: { of(sandbox: Pick<Sandbox, 'spec'>): McpServers };
  readonly sandboxes: { seen(name: string): Promise<{ readonly row: { readonly value: Sandbox } }> };
}

const { noun, route } = declare<McpScopeParts>();

export const mcp = noun({
  routes: [
    route('GET /v1/sandboxes/{name}/mcp', {
      id: 'listMcpServers',
      summary: 'The MCP servers that agents of a sandbox find configured at its next start, and where each comes from',
      answer: mcpView,
      act: null,
      handle: async ({ scope, name }) => {
        const { row } = await scope.sandboxes.seen(name);
        const { servers, skipped } = scope.agentServers.of(row.value);
        return {
          servers: servers.map(({ name: one, from, server }) => ({
            ...{ name: one, from },
            command: isLocal(server) ? [server.command, ...server.args] : null,
            url: isLocal(server) ? null : server.url,
          })),
          skipped: [...skipped],
        };
      },
    }),
  ],
});
