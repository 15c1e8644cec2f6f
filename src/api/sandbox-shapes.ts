/** What is said about sandboxes, the daemon and its users. */

import { z } from 'zod';
import { authorPattern } from '../model/author.ts';
import { maxCredentials } from '../model/credential.ts';
import { idPattern, variableNamePattern } from '../model/name.ts';
import { engineNames, runtimeNames, sandboxStates, workspaceModes } from '../model/sandbox.ts';
import { secretNamePattern } from '../model/secret.ts';
import { maxServices, serviceNamePattern } from '../model/service.ts';
import { networkRequest, networkView } from './network-shapes.ts';
import { volumeRequest } from './volume-shapes.ts';

const name = z.string().min(1).max(63);
/** Says which one is meant, where the name may be another's by now. */
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
const command = z.array(argument).max(4096);

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

export const secretName = z.string().regex(secretNamePattern);

export const sandboxRequest = z.strictObject({
  name: name.optional(),
  user: z.string().min(1).max(64).optional(),
  engine: z.enum(engineNames).optional(),
  image: z.string().min(1).max(512).optional(),
  runtime: z.enum(runtimeNames).optional(),
  project: z.string().min(1).max(4096).optional(),
  /** Which folder that is for whoever asks: device and number of the file. */
  projectSeen: z
    .string()
    .regex(/^\d{1,20}:\d{1,20}$/)
    .optional(),
  mode: z.enum(workspaceModes).optional(),
  /** Frozen: a copy of the project that cannot move. */
  base: z.enum(['live', 'frozen']).optional(),
  command: command.optional(),
  env: env.optional(),
  /** Who git says commits inside, where nothing inside says otherwise. */
  author: author.optional(),
  limits: limits.partial().optional(),
  /** Refuse limits that cannot be enforced; left out, these are advisory. */
  strict: z.boolean().optional(),
  rootfs: z.string().min(1).max(4096).optional(),
  secrets: z.array(secretName).max(100).optional(),
  /** Names of credentials: what they stand for is added outside. */
  credentials: z.array(z.string().min(1).max(63)).max(maxCredentials).optional(),
  /** Names of services that the owner declared. */
  services: z.array(z.string().regex(serviceNamePattern)).max(maxServices).optional(),
  volumes: z.array(volumeRequest).max(20).optional(),
  /** Left out: what the project or the owner's defaults say. */
  network: networkRequest.optional(),
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
  /** Its command has one. */
  terminal: z.boolean(),
  mode: z.string(),
  /** How the working copy is kept and what it is made on; null without one. */
  workspace: z
    .strictObject({ kind: z.enum(['overlay', 'copy']), base: z.enum(['live', 'frozen', 'clone']) })
    .nullable(),
  createdAt: z.string(),
  /** It ended with changes that nobody has taken over, so it did not remove itself. */
  kept: z.boolean(),
  startedAt: z.string().nullable(),
  finishedAt: z.string().nullable(),
  limits: limits.extend({ advisory: z.array(z.string()) }),
  mounts: z.array(z.strictObject({ target: z.string(), source: z.string().nullable(), readonly: z.boolean() })),
  /** Names of those it was given. */
  credentials: z.array(z.string()),
  /** Services it may call, and where inside. */
  services: z.array(z.strictObject({ name: z.string(), port: z.int() })),
  /** Trouble: why it is not so just now; null: it is. */
  network: networkView.extend({ trouble: z.string().nullable() }),
  /** What it is made of; null: the host's programs, or a root filesystem by path. */
  image: z.strictObject({ name: z.string(), id: z.string().nullable() }).nullable(),
  labels: z.record(z.string(), z.string()),
  /** Why its engine could not be asked: all this is as it was last seen. Null: it was. */
  unseen: z.string().nullable(),
});

export const execRequest = z.strictObject({
  command: command.min(1),
  env: env.optional(),
  cwd: z.string().startsWith('/').max(4096).optional(),
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

export const eventView = z.strictObject({
  seq: z.int(),
  at: z.string(),
  type: z.string(),
  subject: z.string(),
  data: z.record(z.string(), z.unknown()),
});

export const probeRow = z.strictObject({
  name: z.string(),
  level: z.enum(['ok', 'warning', 'failure']),
  detail: z.string(),
  cure: z.string().nullable(),
});

export const statusView = z.strictObject({
  version: z.string(),
  pid: z.int(),
  home: z.string(),
  uptimeSeconds: z.number(),
  rootless: z.boolean(),
  sandboxes: z.record(z.string(), z.int()),
  lastSeq: z.int(),
  /** For the owner: why config.yaml as it is now is not used, and which of its settings wait for the next start. */
  settings: z.strictObject({ refused: z.string().nullable(), waiting: z.array(z.string()) }),
});

export const engineView = z.strictObject({
  name: z.enum(engineNames),
  usable: z.boolean(),
  version: z.string().nullable(),
  /** What is taken when nobody names one. */
  runtime: z.string().nullable(),
  /** What `--runtime` may name. */
  runtimes: z.array(z.string()),
  at: z.string().nullable(),
  /** Why it is not usable, and the cure. */
  reason: z.string().nullable(),
  cure: z.string().nullable(),
});

export const userView = z.strictObject({
  name: z.string(),
  slot: z.int(),
  createdAt: z.string(),
  /** The account whose folders may be projects of this user. */
  uid: z.int().nullable(),
  isOwner: z.boolean(),
  sandboxes: z.int(),
});

export const admission = z.strictObject({
  user: userView,
  /** Told this once. */
  token: z.string(),
  /** Where they come in; null: nowhere, as long as `config.yaml` names none. */
  socket: z.string().nullable(),
});

export const secretView = z.strictObject({ name: z.string(), updatedAt: z.string(), sizeBytes: z.int() });

export const healthView = z.strictObject({ status: z.literal('ok'), version: z.string(), uptimeSeconds: z.number() });

export const faultBody = z.strictObject({
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
  data: z.record(z.string(), z.unknown()).optional(),
});
