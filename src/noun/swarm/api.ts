/** What requests and answers about swarms look like. */

import { z } from 'zod';
import { agentGrants } from '../grant-api.ts';
import { author, sandboxRequest } from '../sandbox/api.ts';
import { progressView } from './api/task.ts';
import { branchNamePattern, containerIdPattern, maxBranchName, maxUrl, prUrlPattern } from './model/message.ts';
import { containerNamePattern, containerStatuses } from './model/swarm.ts';

const path = z.string().startsWith('/').max(4096);
const containerId = z.string().regex(containerIdPattern);
const containerName = z.string().regex(containerNamePattern);
const branchName = z.string().max(maxBranchName).regex(branchNamePattern);
const status = z.enum(containerStatuses);
const count = z.int().min(0).max(1_000_000);

export const projectRequest = z.strictObject({ project: path });
export const initRequest = z.strictObject({ project: path, force: z.boolean().optional() });

/** A path relative to the folder of the project; null: no file is kept. */
const stateFile = z
  .string()
  .max(1000)
  .regex(/^(?!\/)(?!(.*\/)?\.{0,2}(\/|$))[^\x00-\x1f\x7f]+\.json$/);
export const fileRequest = z.strictObject({ project: path, file: stateFile.nullable() });

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

/** Old scripts do not send the number of skipped stories. */
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
  prUrl: z.string().max(maxUrl).regex(prUrlPattern).nullable().optional(),
  storyProgress: storyProgress.optional(),
  acpPid: z.int().min(1).max(4_194_304).nullable().optional(),
});

export const containerRequest = z.strictObject({ project: path, containerName });

/** One container, in the format of swarm-state.json. */
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
  /** Why it ended as it did. */
  reason: z.string().nullable(),
});

/** The state of a swarm, in the format of swarm-state.json. */
export const swarmExport = z.strictObject({
  swarmId: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
  containers: z.array(entryView),
});

export const removedView = z.strictObject({ removed: z.int() });

const choice = {
  agent: z.string().min(1).max(32).optional(),
  /** The author of the commits, with the agent as co-author; left out: the agent is the author. */
  author: author.optional(),
  /** What the sandboxes have besides a working copy of the project and the adapter. */
  sandbox: sandboxRequest
    .pick({ engine: true, image: true, rootfs: true, runtime: true, limits: true, strict: true, env: true })
    .extend(sandboxRequest.pick({ secrets: true, credentials: true, services: true, network: true }).shape)
    .extend(agentGrants)
    .optional(),
};

export const runRequest = z.strictObject({
  project: path,
  /** Absolute paths; left out: all task files of the project that have something to do. */
  files: z.array(path).min(1).max(1000).optional(),
  max: z.int().min(1).max(64).optional(),
  ...choice,
});

/** Names left out: all. */
export const namesRequest = z.strictObject({ project: path, names: z.array(containerName).max(1000).optional() });
/** Fields that are left out stay as they were. */
export const resumeRequest = namesRequest.extend(choice);

const storyView = z.strictObject({ id: z.string(), status: z.string(), output: z.string() });

/** A container with all its details. */
export const containerView = entryView.extend({
  /** Null: a script manages the container. */
  agent: z.string().nullable(),
  attempt: z.int().nullable(),
  startedAt: z.string().nullable(),
  /** What the user can do about a failure. */
  hint: z.string().nullable(),
  errors: z.array(z.string()),
  stories: z.array(storyView),
  /** The refs of its commits in the repository of the project. */
  commits: z.array(z.strictObject({ ref: z.string(), commit: z.string(), subject: z.string(), ahead: z.int() })),
});

export const swarmView = z.strictObject({
  swarmId: z.string(),
  project: z.string(),
  max: z.int(),
  createdAt: z.string(),
  updatedAt: z.string(),
  containers: z.array(containerView),
});

/** With the names of the containers that this request started. */
export const begunView = swarmView.extend({ begun: z.array(z.string()) });

export type BegunSwarmView = z.output<typeof begunView>;
export type SwarmView = z.output<typeof swarmView>;
export type SwarmContainerView = z.output<typeof containerView>;
export type SwarmExportView = z.output<typeof swarmExport>;
export type SwarmEntryView = z.output<typeof entryView>;
