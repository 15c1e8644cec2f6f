/** The hub over the API. */
import { z } from 'zod';
import { maxTokenProjects, maxTokenSeconds, toolGroups } from './model/token.ts';

export const toolView = z.strictObject({
  name: z.string(),
  group: z.string(),
  description: z.string(),
  changes: z.boolean(),
  inputSchema: z.record(z.string(), z.unknown()),
  outputSchema: z.record(z.string(), z.unknown()),
});

export const callRequest = z.strictObject({
  tool: z.string().min(1).max(64),
  input: z.record(z.string(), z.unknown()).optional(),
});

export const callResult = z.record(z.string(), z.unknown());

const projects = z.union([z.literal('*'), z.array(z.string().min(1).max(48)).min(1).max(maxTokenProjects)]);
export const groups = z.array(z.enum(toolGroups)).min(1).max(toolGroups.length);

/** What a client on a socket may use: ids of projects and groups of tools, separated by commas. */
export const connectQuery = z.strictObject({
  projects: z.string().max(5000).optional(),
  groups: z.string().max(200).optional(),
});

export const tokenRequest = z.strictObject({
  projects,
  groups: groups.optional(),
  expiresSeconds: z.int().min(1).max(maxTokenSeconds).optional(),
});

export const tokenView = z.strictObject({
  id: z.string(),
  projects,
  groups,
  createdAt: z.string(),
  expiresAt: z.string(),
  usedAt: z.string().nullable(),
});

export const newToken = z.strictObject({ token: z.string(), ...tokenView.shape });

export type TokenRequest = z.output<typeof tokenRequest>;
export type TokenView = z.output<typeof tokenView>;
export type NewToken = z.output<typeof newToken>;
export type ToolView = z.output<typeof toolView>;
