/**
 * The HTTP contract between the daemon and everything that talks to it, as data. The server, the typed client and the
 * OpenAPI document are all made from this table, so they cannot disagree.
 *
 * JSON in and out. A refusal is `{code, message, hint?, data?}` with the status of its code. Unknown fields are refused
 * with their path. Two routes, `attach` and `exec`, answer with an upgrade to the framed stream of `stream.ts`.
 */
import { z } from 'zod';
import { type Path, paths } from './paths.ts';
import * as workspace from './workspace-shapes.ts';

const name = z.string().min(1).max(63);
const size = z
  .int()
  .positive()
  .max(2 ** 53 - 1);
const env = z
  .record(
    z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,254}$/),
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
  engine: z.enum(['local', 'docker']).optional(),
  runtime: z.enum(['crun', 'runc', 'runsc', 'sysbox-runc']).optional(),
  project: z.string().min(1).max(4096).optional(),
  mode: z.enum(['overlay', 'bind', 'clone', 'none']).optional(),
  /** Frozen: a copy of the project that cannot move. */
  base: z.enum(['live', 'frozen']).optional(),
  command: command.optional(),
  env: env.optional(),
  limits: limits.partial().optional(),
  rootfs: z.string().min(1).max(4096).optional(),
  labels: labels.optional(),
  /** Keep stdin open and hold a console for the client that attaches next. */
  stdin: z.boolean().optional(),
  console: z.boolean().optional(),
  autoRemove: z.boolean().optional(),
});

export const sandboxView = z.strictObject({
  id: z.string(),
  name: z.string(),
  project: z.string().nullable(),
  user: z.string(),
  engine: z.string(),
  runtime: z.string().nullable(),
  state: z.enum(['pending', 'running', 'completed', 'failed', 'stopped']),
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  reason: z.string().nullable(),
  command: z.array(z.string()),
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
  network: z.literal('none'),
  labels: z.record(z.string(), z.string()),
});

export const execRequest = z.strictObject({
  command: command.min(1),
  env: env.optional(),
  cwd: z.string().startsWith('/').max(4096).optional(),
  stdin: z.boolean().optional(),
  terminal: z.strictObject({ rows: z.int().min(1).max(10_000), columns: z.int().min(1).max(10_000) }).optional(),
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

export const healthView = z.strictObject({ status: z.literal('ok'), version: z.string(), uptimeSeconds: z.number() });

export const faultBody = z.strictObject({
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
  data: z.record(z.string(), z.unknown()).optional(),
});

const flag = z.enum(['true', 'false']).transform((text) => text === 'true');
const count = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);

export interface Route extends Path {
  readonly summary: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** What it answers with: JSON of this shape, or a stream. */
  readonly answer: z.ZodType | 'frames' | 'sse' | 'upgrade' | 'document';
}

export const routes = {
  health: { ...paths.health, summary: 'Is the daemon well', answer: healthView },
  openapi: { ...paths.openapi, summary: 'This document', answer: 'document' },
  status: { ...paths.status, summary: 'The daemon and what it holds', answer: statusView },
  doctor: { ...paths.doctor, summary: 'Prove what this machine offers', answer: z.array(probeRow) },
  shutdown: {
    ...paths.shutdown,
    summary: 'End the daemon; sandboxes go on unless `all`',
    body: z.strictObject({ all: z.boolean().optional() }),
    answer: z.strictObject({ stopped: z.array(z.string()) }),
  },
  events: {
    ...paths.events,
    summary: 'Events after a sequence number',
    query: z.strictObject({ after: count.optional(), limit: count.optional() }),
    answer: z.array(eventView),
  },
  followEvents: {
    ...paths.followEvents,
    summary: 'Events after a sequence number, then as they happen (server-sent events; honours Last-Event-ID)',
    query: z.strictObject({ after: count.optional() }),
    answer: 'sse',
  },
  listUsers: {
    ...paths.listUsers,
    summary: 'Those who may come in; all of them for the owner',
    answer: z.array(userView),
  },
  addUser: {
    ...paths.addUser,
    summary: 'Let somebody in; the token is told this once',
    body: z.strictObject({ name: z.string().min(1).max(32), uid: z.int().min(0).max(0xffff_fffe).optional() }),
    answer: z.strictObject({ user: userView, token: z.string() }),
  },
  removeUser: { ...paths.removeUser, summary: 'Let somebody in no more', answer: userView },
  listSandboxes: {
    ...paths.listSandboxes,
    summary: 'The sandboxes of whoever asks, or of all users for the owner',
    query: z.strictObject({ allUsers: flag.optional() }),
    answer: z.array(sandboxView),
  },
  createSandbox: {
    ...paths.createSandbox,
    summary: 'Create a sandbox and start it',
    body: sandboxRequest,
    answer: sandboxView,
  },
  showSandbox: { ...paths.showSandbox, summary: 'One sandbox', answer: sandboxView },
  removeSandbox: {
    ...paths.removeSandbox,
    summary: 'Remove a sandbox; a running one only with `force`',
    query: z.strictObject({ force: flag.optional() }),
    answer: sandboxView,
  },
  startSandbox: { ...paths.startSandbox, summary: 'Start a sandbox that has ended', answer: sandboxView },
  stopSandbox: {
    ...paths.stopSandbox,
    summary: 'SIGTERM, then SIGKILL after the grace time',
    body: z.strictObject({ graceMs: z.int().min(0).max(86_400_000).optional() }),
    answer: sandboxView,
  },
  waitSandbox: { ...paths.waitSandbox, summary: 'Answers when the sandbox has ended', answer: sandboxView },
  sandboxLogs: {
    ...paths.sandboxLogs,
    summary: 'What its command wrote, as frames',
    query: z.strictObject({ follow: flag.optional(), tail: count.optional() }),
    answer: 'frames',
  },
  sandboxStats: { ...paths.sandboxStats, summary: 'What running sandboxes use', answer: z.array(statsView) },
  sandboxSizes: {
    ...paths.sandboxSizes,
    summary: 'What sandboxes take on disk, snapshots included',
    answer: z.array(workspace.sizeView),
  },
  listChanges: {
    ...paths.listChanges,
    summary: 'What the agent changed',
    body: workspace.pathsRequest,
    answer: workspace.changesView,
  },
  diffSandbox: {
    ...paths.diffSandbox,
    summary: 'What the agent changed, as a unified diff in frames',
    body: workspace.pathsRequest,
    answer: 'frames',
  },
  patchSandbox: {
    ...paths.patchSandbox,
    summary: 'What the agent changed, as a mail for `git am` in frames',
    body: workspace.pathsRequest.extend({ message: z.string().min(1).max(65_536).optional() }),
    answer: 'frames',
  },
  apply: {
    ...paths.apply,
    summary: 'Take changes over into the project, or say what would happen',
    body: workspace.applyRequest,
    answer: workspace.applyView,
  },
  undoApply: { ...paths.undoApply, summary: 'Take the last apply back', answer: workspace.undoView },
  discardChanges: {
    ...paths.discardChanges,
    summary: 'Give changes up; a snapshot is taken first',
    body: workspace.pathsRequest,
    answer: workspace.discardView,
  },
  listSnapshots: {
    ...paths.listSnapshots,
    summary: 'Its snapshots, oldest first',
    answer: z.array(workspace.snapshotView),
  },
  takeSnapshot: {
    ...paths.takeSnapshot,
    summary: 'Keep its workspace, home and data as they are now',
    body: workspace.snapshotRequest,
    answer: workspace.snapshotView,
  },
  restoreSnapshot: {
    ...paths.restoreSnapshot,
    summary: 'Go back to a snapshot; what is there now becomes one first',
    body: workspace.restoreRequest,
    answer: workspace.restoreView,
  },
  forkSandbox: {
    ...paths.forkSandbox,
    summary: 'New sandboxes, stopped, that begin where this one is',
    body: workspace.forkRequest,
    answer: z.array(sandboxView),
  },
  attachSandbox: { ...paths.attachSandbox, summary: 'The streams of its command', answer: 'upgrade' },
  execSandbox: {
    ...paths.execSandbox,
    summary: 'Run a command inside; the first frame from the client is the request',
    body: execRequest,
    answer: 'upgrade',
  },
} as const satisfies Record<string, Route>;

export type Routes = typeof routes;
export type RouteName = keyof Routes;

/** What a client sends, before defaults and transforms. */
export type BodyOf<K extends RouteName> = Routes[K] extends { body: infer B extends z.ZodType }
  ? z.input<B>
  : undefined;
export type QueryOf<K extends RouteName> = Routes[K] extends { query: infer Q extends z.ZodType }
  ? z.output<Q>
  : Record<string, never>;
export type AnswerOf<K extends RouteName> = Routes[K]['answer'] extends z.ZodType
  ? z.output<Routes[K]['answer']>
  : unknown;

export type UserView = z.output<typeof userView>;
export type ChangesView = z.output<typeof workspace.changesView>;
export type ChangeView = z.output<typeof workspace.changeView>;
export type ApplyRequest = z.input<typeof workspace.applyRequest>;
export type ApplyView = z.output<typeof workspace.applyView>;
export type PlannedView = z.output<typeof workspace.plannedView>;
export type UndoView = z.output<typeof workspace.undoView>;
export type SnapshotView = z.output<typeof workspace.snapshotView>;
export type RestoreView = z.output<typeof workspace.restoreView>;
export type DiscardView = z.output<typeof workspace.discardView>;
export type SizeView = z.output<typeof workspace.sizeView>;
export type SandboxRequest = z.input<typeof sandboxRequest>;
export type SandboxView = z.output<typeof sandboxView>;
export type ExecRequest = z.input<typeof execRequest>;
export type StatsView = z.output<typeof statsView>;
