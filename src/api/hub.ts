/** The hub over the API. */
import { z } from 'zod';

export const toolView = z.strictObject({
  name: z.string(),
  group: z.string(),
  description: z.string(),
  changes: z.boolean(),
  inputSchema: z.record(z.string(), z.unknown()),
});

export const callRequest = z.strictObject({
  tool: z.string().min(1).max(64),
  input: z.record(z.string(), z.unknown()).optional(),
});

export const callResult = z.record(z.string(), z.unknown());

export type ToolView = z.output<typeof toolView>;
