/** What answers about the MCP servers of a sandbox look like. */
import { z } from 'zod';
import { mcpOrigins } from '../model/mcp.ts';

const from = z.enum(mcpOrigins);

export const mcpView = z.strictObject({
  servers: z.array(
    z.strictObject({
      name: z.string(),
      from,
      /** The command of a program inside; null: the server is reached at `url`. */
      command: z.array(z.string()).nullable(),
      url: z.string().nullable(),
    }),
  ),
  /** Servers that a file names but that are not configured. */
  skipped: z.array(z.strictObject({ name: z.string(), from, reason: z.string() })),
});
export type McpView = z.output<typeof mcpView>;
