/** The commands about MCP servers of sandboxes. */
import type { Area } from '../../../client/cli.ts';

export const mcp: Area = {
  heading: 'MCP servers of agents:',
  groups: [{ name: 'mcp', summary: 'MCP servers that agents in a sandbox find configured' }],
  commands: [
    {
      name: 'mcp ls',
      summary: 'list the MCP servers that agents in a sandbox find configured, and where each comes from',
      args: '<NAME>',
      completes: 'sandbox',
      examples: ['mcp ls project-claude'],
      load: async () => (await import('./commands.ts')).mcpLs,
    },
  ],
};
