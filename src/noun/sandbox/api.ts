/** What requests and answers about sandboxes look like. */

import { z } from 'zod';
import { authorPattern } from '../../model/author.ts';
import { engineNames, runtimeNames } from '../../model/engine.ts';
import { idPattern, variableNamePattern } from '../../model/name.ts';
import { grantRequests, grantViews } from '../grant-api.ts';
import { type GrantField, grantTable } from '../grant-table.ts';
import { maxPorts, networkRequest, networkView, portRequest } from '../network/api.ts';
import { maxCredentials } from '../network/model/credential.ts';
import { maxServices, serviceNamePattern } from '../network/model/service.ts';
import { secretName } from '../user/api/secret.ts';
import { sandboxStates, workspaceModes } from './model.ts';

const name = z.string().min(1).max(63);
/** Identifies a sandbox even if another one has its name by now. */
export const sandboxId = z.string().regex(idPattern);
const size = z
  .int()
  .positive()
  .max(2 ** 53 - 1);
const env = z
  .record(
    z.string().regex(variableNamePattern),
    z
      .string()
      .max(131_072)
      .refine((text) => !text.includes('\0'), 'a value cannot hold a NUL byte'),
  )
  .refine((all) => Object.keys(all).length <= 1000, 'at most 1000 variables');
const labels = z
  .record(z.string().min(1).max(128), z.string().max(4096))
  .refine((all) => Object.keys(all).length <= 100, 'at most 100 labels');
const argument = z
  .string()
  .max(131_072)
  .refine((text) => !text.includes('\0'), 'an argument cannot hold a NUL byte');
export const command = z.array(argument).max(4096);
const cwd = z.string().startsWith('/', 'not an absolute path').max(4096);

const authorText = z.string().regex(authorPattern);
export const author = z.strictObject({ name: authorText, email: authorText });

const terminal = z.strictObject({ rows: z.int().min(1).max(10_000), columns: z.int().min(1).max(10_000) });

const limits = z.strictObject({
  cpus: z.number(),
  memoryBytes: size,
  swapBytes: size,
  pids: z.int(),
  diskBytes: size,
});

export const sandboxRequest = z.strictObject({
  name: name.optional(),
  user: z.string().min(1).max(64).optional(),
  engine: z.enum(engineNames).optional(),
  image: z.string().min(1).max(512).optional(),
  runtime: z.enum(runtimeNames).optional(),
  project: z.string().min(1).max(4096).optional(),
  /** The folder as the client sees it: device and inode. */
  projectSeen: z
    .string()
    .regex(/^\d{1,20}:\d{1,20}$/)
    .optional(),
  mode: z.enum(workspaceModes).optional(),
  /** `frozen`: a copy of the project, which later changes to the project do not affect. */
  base: z.enum(['live', 'frozen']).optional(),
  command: command.optional(),
  /** The working directory of its command, and of others that name none. */
  cwd: cwd.optional(),
  env: env.optional(),
  /** The author of commits inside, unless git's configuration inside names another one. */
  author: author.optional(),
  limits: limits.partial().optional(),
  /** Refuse limits that cannot be enforced; left out, these are advisory. */
  strict: z.boolean().optional(),
  rootfs: z.string().min(1).max(4096).optional(),
  /** A program of this machine, or the folder with it, to mount read-only at /opt/agent; for the owner. */
  program: z.string().startsWith('/').max(4096).optional(),
  secrets: z.array(secretName).max(100).optional(),
  /** Names of credentials; the proxy adds their secrets outside. */
  credentials: z.array(z.string().min(1).max(63)).max(maxCredentials).optional(),
  /** Names of services that the owner declared. */
  services: z.array(z.string().regex(serviceNamePattern)).max(maxServices).optional(),
  ...grantRequests,
  /** Left out: the rules of the project or the owner's defaults. */
  network: networkRequest.optional(),
  /** Ports of this machine that are forwarded to servers in the sandbox. */
  ports: z.array(portRequest).max(maxPorts).optional(),
  labels: labels.optional(),
  /** Keep stdin open and hold a console for the client that attaches next. */
  stdin: z.boolean().optional(),
  /** Its command gets a terminal of this size. */
  terminal: terminal.optional(),
  console: z.boolean().optional(),
  /** `shared`: the home of the user itself, for a sandbox without a project; changes are seen by all of the user's sandboxes. */
  home: z.enum(['own', 'shared']).optional(),
  autoRemove: z.boolean().optional(),
});

export const sandboxState = z.enum(sandboxStates);

export const sandboxView = z.strictObject({
  id: z.string(),
  name: z.string(),
  project: z.string().nullable(),
  user: z.string(),
  engine: z.string(),
  runtime: z.string().nullable(),
  state: sandboxState,
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  reason: z.string().nullable(),
  command: z.array(z.string()),
  /** Whether its command has a terminal. */
  terminal: z.boolean(),
  mode: z.string(),
  /** How the working copy is kept, and its base; null: there is no working copy. */
  workspace: z
    .strictObject({ kind: z.enum(['overlay', 'copy']), base: z.enum(['live', 'frozen', 'clone']) })
    .nullable(),
  createdAt: z.string(),
  /** True: it ended with changes that are not applied, so it was not removed. */
  kept: z.boolean(),
  startedAt: z.string().nullable(),
  finishedAt: z.string().nullable(),
  limits: limits.extend({ advisory: z.array(z.string()) }),
  mounts: z.array(z.strictObject({ target: z.string(), source: z.string().nullable(), readonly: z.boolean() })),
  ...grantViews,
  /** Names of its credentials. */
  credentials: z.array(z.string()),
  /** Services that it may call, with their ports inside. */
  services: z.array(z.strictObject({ name: z.string(), port: z.int() })),
  /** `trouble`: why the network does not work as declared now; null: it does. */
  network: networkView.extend({ trouble: z.string().nullable() }),
  /** Its image; null: it has the host's programs, or a root filesystem by path. */
  image: z.strictObject({ name: z.string(), id: z.string().nullable() }).nullable(),
  labels: z.record(z.string(), z.string()),
  /** Why its engine could not be observed, so that all of this is the last known state; null: it was observed. */
  unseen: z.string().nullable(),
});

export const execRequest = z.strictObject({
  command: command.min(1),
  env: env.optional(),
  cwd: cwd.optional(),
  stdin: z.boolean().optional(),
  terminal: terminal.optional(),
  /** End the command when the client goes away. */
  bound: z.boolean().optional(),
});

export const statsView = z.strictObject({
  name: z.string(),
  cpuSeconds: z.number(),
  memoryBytes: z.number(),
  memoryLimitBytes: z.number(),
  pids: z.number(),
  pidsLimit: z.number(),
  cpus: z.number(),
  advisory: z.array(z.string()),
});

export type SandboxRequest = z.input<typeof sandboxRequest>;
export type SandboxView = z.output<typeof sandboxView>;
export type ExecRequest = z.input<typeof execRequest>;
export type StatsView = z.output<typeof statsView>;

/** The fields of a request for the audit log: what the sandbox is made of, and what it can read and reach. */
export function auditedFields({ engine = 'local', ...body }: SandboxRequest) {
  const { image, rootfs, program, project, mode, home, secrets, credentials, services } = body;
  const network = body.network && [body.network].flat();
  const ports = body.ports?.map(({ port }) => String(port));
  const grants = grantTable.map(([field, { nameOf }]) => [field, body[field]?.map(nameOf)]);
  return {
    ...{ engine, image, rootfs, program, project, mode, home, secrets, credentials, services },
    ...(Object.fromEntries(grants) as { readonly [F in GrantField]?: string[] }),
    ...{ network, ports },
  };
}
