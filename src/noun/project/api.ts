/** Projects over the API. */
import { z } from 'zod';
import { serverNamePattern } from './model/language.ts';
import { projectModes, spokeStates } from './model/project.ts';

export const projectRequest = z.strictObject({
  folder: z.string().startsWith('/').max(4096).optional(),
  id: z.string().min(1).max(48).optional(),
  mode: z.enum(projectModes).optional(),
  test: z.string().min(1).max(4096).optional(),
  languages: z.array(z.string().regex(serverNamePattern)).min(1).max(20).optional(),
  image: z.string().min(1).max(512).optional(),
});

export const projectView = z.strictObject({
  id: z.string(),
  folder: z.string(),
  mode: z.enum(projectModes),
  test: z.string().nullable(),
  /** Null: language servers are chosen by the type of a file. */
  languages: z.array(z.string()).readonly().nullable(),
  /** Null: its sandbox has the programs of the host. */
  image: z.string().nullable(),
  /** The sandbox of the project; it is created when the hub first needs it. */
  sandbox: z.string(),
  state: z.enum(spokeStates),
  /** Why it is unreachable. */
  reason: z.string().nullable(),
  createdAt: z.string(),
});

export type ProjectRequest = z.input<typeof projectRequest>;
export type ProjectView = z.output<typeof projectView>;
