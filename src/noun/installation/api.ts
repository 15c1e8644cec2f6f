/** The daemon of one installation, and refusals. */
import { z } from 'zod';

export const statusView = z.strictObject({
  version: z.string(),
  pid: z.int(),
  home: z.string(),
  uptimeSeconds: z.number(),
  rootless: z.boolean(),
  sandboxes: z.record(z.string(), z.int()),
  lastSeq: z.int(),
  /** The address for MCP clients over HTTP and WebSocket; null: no port is open. */
  mcp: z.string().nullable(),
  /** For the owner: why config.yaml as it is now is not used, and which of its settings wait for the next start. */
  settings: z.strictObject({ refused: z.string().nullable(), waiting: z.array(z.string()) }),
});

export const healthView = z.strictObject({ status: z.literal('ok'), version: z.string(), uptimeSeconds: z.number() });

export type StatusView = z.output<typeof statusView>;
