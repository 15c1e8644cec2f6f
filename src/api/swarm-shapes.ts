/** What is said about swarms. */
import { z } from 'zod';
import { progressView } from './task-shapes.ts';

const path = z.string().startsWith('/').max(4096);
const containerId = z.string().regex(/^[0-9a-f]{12,64}$/);
const containerName = z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$/);
const branchName = z
  .string()
  .max(200)
  .regex(/^[a-zA-Z0-9][a-zA-Z0-9/_-]*$/);
const status = z.enum(['pending', 'running', 'completed', 'failed', 'stopped']);
const count = z.int().min(0).max(1_000_000);

export const projectRequest = z.strictObject({ project: path });
export const initRequest = z.strictObject({ project: path, force: z.boolean().optional() });

export const addRequest = z.strictObject({
  project: path,
  containerId,
  containerName,
  taskFilePath: z
    .string()
    .max(4096)
    .regex(/^[^\x00-\x1f\x7f]+\.json$/),
  branchName,
});

/** Scripts of before do not count what was skipped. */
const storyProgress = z.strictObject({
  total: count,
  completed: count,
  failed: count,
  inProgress: count,
  pending: count,
  skipped: count.default(0),
});

export const updateRequest = z.strictObject({
  project: path,
  containerName,
  status: status.optional(),
  prUrl: z
    .string()
    .max(2000)
    .regex(/^https:\/\/[^\s\x00-\x1f\x7f]+$/)
    .nullable()
    .optional(),
  storyProgress: storyProgress.optional(),
  acpPid: z.int().min(1).max(4_194_304).nullable().optional(),
});

export const containerRequest = z.strictObject({ project: path, containerName });

/** One container, as in the seed's file. */
export const entryView = z.strictObject({
  containerId: z.string(),
  containerName: z.string(),
  taskFilePath: z.string(),
  branchName: z.string(),
  status,
  prUrl: z.string().nullable(),
  storyProgress: progressView,
  createdAt: z.string(),
  updatedAt: z.string(),
  acpPid: z.int().nullable(),
});

/** The state of a swarm, as the seed's file has it. */
export const swarmExport = z.strictObject({
  swarmId: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
  containers: z.array(entryView),
});

export const removedView = z.strictObject({ removed: z.int() });
