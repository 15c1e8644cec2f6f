/**
 * The HTTP contract between the daemon and everything that talks to it, as data. The server, the typed client and the
 * OpenAPI document are all made from this table, so they cannot disagree.
 *
 * JSON in and out. A refusal is `{code, message, hint?, data?}` with the status of its code. Unknown fields are refused
 * with their path. Two routes, `attach` and `exec`, answer with an upgrade to the framed stream of `stream.ts`.
 */
import { z } from 'zod';
import * as credential from './credential-shapes.ts';
import * as fleet from './fleet-shapes.ts';
import * as image from './image-shapes.ts';
import { networkRoutes } from './network-routes.ts';
import type * as network from './network-shapes.ts';
import { type Path, paths } from './paths.ts';
import { count, flag } from './query.ts';
import * as shape from './sandbox-shapes.ts';
import { swarmRoutes } from './swarm-routes.ts';
import { volumeRoutes } from './volume-routes.ts';
import type * as volume from './volume-shapes.ts';
import * as workspace from './workspace-shapes.ts';

export * from './sandbox-shapes.ts';
export type * from './swarm-routes.ts';

export interface Route extends Path {
  readonly summary: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** What it answers with: JSON of this shape, or a stream. */
  readonly answer: z.ZodType | 'frames' | 'sse' | 'upgrade' | 'document';
}

export const routes = {
  health: { ...paths.health, summary: 'Is the daemon well', answer: shape.healthView },
  openapi: { ...paths.openapi, summary: 'This document', answer: 'document' },
  status: { ...paths.status, summary: 'The daemon and what it holds', answer: shape.statusView },
  doctor: { ...paths.doctor, summary: 'Prove what this machine offers', answer: z.array(shape.probeRow) },
  listEngines: {
    ...paths.listEngines,
    summary: 'What sandboxes can be started on, and why not',
    answer: z.array(shape.engineView),
  },
  shutdown: {
    ...paths.shutdown,
    summary: 'End the daemon; sandboxes go on unless `all`',
    body: z.strictObject({ all: z.boolean().optional() }),
    answer: z.strictObject({ stopped: z.array(z.string()) }),
  },
  events: {
    ...paths.events,
    summary: 'Events after a sequence number; what is no longer kept of them is told as `events.dropped`',
    query: z.strictObject({ after: count.optional(), limit: count.optional() }),
    answer: z.array(shape.eventView),
  },
  followEvents: {
    ...paths.followEvents,
    summary: 'Events after a sequence number, then as they happen (server-sent events; honours Last-Event-ID)',
    query: z.strictObject({ after: count.optional() }),
    answer: 'sse',
  },
  readAudit: {
    ...paths.readAudit,
    summary: 'Who did what, as server-sent events: all of it for the owner, for others what they did themselves',
    query: z.strictObject({ after: count.optional(), follow: flag.optional() }),
    answer: 'sse',
  },
  listUsers: {
    ...paths.listUsers,
    summary: 'Those who may come in; all of them for the owner',
    answer: z.array(shape.userView),
  },
  addUser: {
    ...paths.addUser,
    summary: 'Let somebody in; the token is told this once',
    body: z.strictObject({ name: z.string().min(1).max(32), uid: z.int().min(0).max(0xffff_fffe).optional() }),
    answer: shape.admission,
  },
  renewToken: {
    ...paths.renewToken,
    summary: 'A new token in place of the old one; one’s own, or anybody’s for the owner',
    /** Name: left out, that of the caller. */
    body: z.strictObject({ name: z.string().min(1).max(32).optional() }),
    answer: shape.admission,
  },
  removeUser: { ...paths.removeUser, summary: 'Let somebody in no more', answer: shape.userView },
  listSecrets: {
    ...paths.listSecrets,
    summary: 'Names of secrets, never their values',
    answer: z.array(shape.secretView),
  },
  setSecret: {
    ...paths.setSecret,
    summary: 'Keep a secret, or replace it; sandboxes that run have the new value at once',
    body: z.strictObject({ name: shape.secretName, valueBase64: z.base64().min(1).max(1_500_000) }),
    answer: shape.secretView,
  },
  removeSecret: {
    ...paths.removeSecret,
    summary: 'Forget a secret that no sandbox is granted',
    answer: shape.secretView,
  },
  listCredentials: {
    ...paths.listCredentials,
    summary: 'Credentials: where they go and which secrets they carry, never the values',
    answer: z.array(credential.credentialView),
  },
  addCredential: {
    ...paths.addCredential,
    summary: 'Have a secret added to requests for a service, outside of sandboxes',
    body: credential.credentialRequest,
    answer: credential.credentialView,
  },
  removeCredential: {
    ...paths.removeCredential,
    summary: 'Forget a credential that no sandbox was given',
    answer: credential.credentialView,
  },
  ...volumeRoutes,
  ...swarmRoutes,
  composeFleet: {
    ...paths.composeFleet,
    summary: 'A docker-compose.yml of what a carrel.yaml declares',
    body: fleet.fleetRequest,
    answer: fleet.composedFleet,
  },
  trustFile: {
    ...paths.trustFile,
    summary: 'From now on a carrel.yaml may give sandboxes what it gives as it is; with dryRun only what that is',
    body: fleet.trustRequest,
    answer: fleet.trustView,
  },
  planFleet: {
    ...paths.planFleet,
    summary: 'What would have to be done so that the machine is as a carrel.yaml declares; nothing is done',
    body: fleet.fleetRequest,
    answer: fleet.fleetPlan,
  },
  listImages: {
    ...paths.listImages,
    summary: 'Images that sandboxes of whoever asks may be made of',
    answer: z.array(image.imageView),
  },
  buildImage: {
    ...paths.buildImage,
    summary: 'Make the image of a project, or the base; progress frames, then one result',
    body: image.buildRequest,
    answer: 'frames',
  },
  removeImage: {
    ...paths.removeImage,
    summary: 'Remove an image that was made here and that no sandbox is made of',
    body: image.removeImageRequest,
    answer: image.imageView,
  },
  listSandboxes: {
    ...paths.listSandboxes,
    summary: 'The sandboxes of whoever asks, or of all users for the owner',
    query: z.strictObject({ allUsers: flag.optional() }),
    answer: z.array(shape.sandboxView),
  },
  createSandbox: {
    ...paths.createSandbox,
    summary: 'Create a sandbox and start it',
    body: shape.sandboxRequest,
    answer: shape.sandboxView,
  },
  showSandbox: { ...paths.showSandbox, summary: 'One sandbox', answer: shape.sandboxView },
  removeSandbox: {
    ...paths.removeSandbox,
    summary: 'Remove a sandbox; a running one only with `force`, with `staleMs` only one that ended so long ago',
    query: z.strictObject({
      force: flag.optional(),
      staleMs: count.optional(),
      dryRun: flag.optional(),
      id: shape.sandboxId.optional(),
    }),
    answer: shape.sandboxView,
  },
  startSandbox: { ...paths.startSandbox, summary: 'Start a sandbox that has ended', answer: shape.sandboxView },
  stopSandbox: {
    ...paths.stopSandbox,
    summary: 'SIGTERM, then SIGKILL after the grace time',
    body: z.strictObject({
      graceMs: z.int().min(0).max(86_400_000, 'more than a day').optional(),
      id: shape.sandboxId.optional(),
    }),
    answer: shape.sandboxView,
  },
  waitSandbox: { ...paths.waitSandbox, summary: 'Answers when the sandbox has ended', answer: shape.sandboxView },
  sandboxLogs: {
    ...paths.sandboxLogs,
    summary: 'What its command wrote, as frames',
    query: z.strictObject({ follow: flag.optional(), tail: count.optional() }),
    answer: 'frames',
  },
  sandboxStats: { ...paths.sandboxStats, summary: 'What running sandboxes use', answer: z.array(shape.statsView) },
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
    answer: z.array(shape.sandboxView),
  },
  ...networkRoutes,
  attachSandbox: { ...paths.attachSandbox, summary: 'The streams of its command', answer: 'upgrade' },
  execSandbox: {
    ...paths.execSandbox,
    summary: 'Run a command inside; the first frame from the client is the request',
    body: shape.execRequest,
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

export type BuildRequest = z.input<typeof image.buildRequest>;
export type BuildEventView = z.output<typeof image.buildEvent>;
export type BuiltView = z.output<typeof image.builtView>;
export type ImageView = z.output<typeof image.imageView>;
export type VolumeView = z.output<typeof volume.volumeView>;
export type VolumeStatusView = z.output<typeof volume.volumeStatusView>;
export type CleanView = z.output<typeof volume.cleanView>;
export type BackupEntryView = z.output<typeof volume.backupEntryView>;
export type BackupView = z.output<typeof volume.backupView>;
export type MigrateView = z.output<typeof volume.migrateView>;
export type RemovedVolumeView = z.output<typeof volume.removedVolumeView>;
export type RestoreVolumeView = z.output<typeof volume.restoreVolumeView>;
export type CredentialView = z.output<typeof credential.credentialView>;
export type ComposedFleet = z.output<typeof fleet.composedFleet>;
export type TrustView = z.output<typeof fleet.trustView>;
export type FleetPlan = z.output<typeof fleet.fleetPlan>;
export type FleetStep = z.output<typeof fleet.fleetStep>;
export type EngineView = z.output<typeof shape.engineView>;
export type SecretView = z.output<typeof shape.secretView>;
export type Admission = z.output<typeof shape.admission>;
export type UserView = z.output<typeof shape.userView>;
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
export type NetworkView = z.output<typeof network.networkView>;
export type ExplainView = z.output<typeof network.explainView>;
export type PortView = z.output<typeof network.portView>;
export type PortRow = z.output<typeof network.portRow>;
export type SandboxRequest = z.input<typeof shape.sandboxRequest>;
export type SandboxView = z.output<typeof shape.sandboxView>;
export type ExecRequest = z.input<typeof shape.execRequest>;
export type StatsView = z.output<typeof shape.statsView>;
