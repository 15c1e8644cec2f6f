/**
 * The HTTP contract between the daemon and everything that talks to it, as data. The server, the typed client and the
 * OpenAPI document are all made from this table, so they cannot disagree.
 *
 * JSON in and out. A refusal is `{code, message, hint?, data?}` with the status of its code. Unknown fields are refused
 * with their path. Two routes, `attach` and `exec`, answer with an upgrade to the framed stream of `stream.ts`.
 */
import { z } from 'zod';
import * as credential from './credential.ts';
import * as doctor from './doctor.ts';
import * as engine from './engine.ts';
import * as event from './event.ts';
import * as fleet from './fleet.ts';
import * as image from './image.ts';
import * as installation from './installation.ts';
import { networkRoutes } from './network-routes.ts';
import { count, flag } from './query.ts';
import * as shape from './sandbox.ts';
import * as secret from './secret.ts';
import { swarmRoutes } from './swarm-routes.ts';
import * as user from './user.ts';
import { volumeRoutes } from './volume-routes.ts';
import * as workspace from './workspace.ts';

export interface Route {
  /** The operationId of the OpenAPI document. */
  readonly id: string;
  readonly summary: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** What it answers with: JSON of this shape, or a stream. */
  readonly answer: z.ZodType | 'frames' | 'sse' | 'upgrade' | 'document';
}

export const routes = {
  'GET /health': { id: 'health', summary: 'Is the daemon well', answer: installation.healthView },
  'GET /openapi.json': { id: 'openapi', summary: 'This document', answer: 'document' },
  'GET /v1/status': { id: 'status', summary: 'The daemon and what it holds', answer: installation.statusView },
  'GET /v1/doctor': { id: 'doctor', summary: 'Prove what this machine offers', answer: z.array(doctor.probeRow) },
  'GET /v1/engines': {
    id: 'listEngines',
    summary: 'What sandboxes can be started on, and why not',
    answer: z.array(engine.engineView),
  },
  'POST /v1/shutdown': {
    id: 'shutdown',
    summary: 'End the daemon; sandboxes go on unless `all`',
    body: z.strictObject({ all: z.boolean().optional() }),
    answer: z.strictObject({ stopped: z.array(z.string()) }),
  },
  'GET /v1/events': {
    id: 'events',
    summary: 'Events after a sequence number; what is no longer kept of them is told as `events.dropped`',
    query: z.strictObject({ after: count.optional(), limit: count.optional() }),
    answer: z.array(event.eventView),
  },
  'GET /v1/events/stream': {
    id: 'followEvents',
    summary: 'Events after a sequence number, then as they happen (server-sent events; honours Last-Event-ID)',
    query: z.strictObject({ after: count.optional() }),
    answer: 'sse',
  },
  'GET /v1/audit': {
    id: 'readAudit',
    summary: 'Who did what, as server-sent events: all of it for the owner, for others what they did themselves',
    query: z.strictObject({ after: count.optional(), follow: flag.optional() }),
    answer: 'sse',
  },
  'GET /v1/users': {
    id: 'listUsers',
    summary: 'Those who may come in; all of them for the owner',
    answer: z.array(user.userView),
  },
  'POST /v1/users': {
    id: 'addUser',
    summary: 'Let somebody in; the token is told this once',
    body: z.strictObject({ name: z.string().min(1).max(32), uid: z.int().min(0).max(0xffff_fffe).optional() }),
    answer: user.admission,
  },
  'POST /v1/users/token': {
    id: 'renewToken',
    summary: 'A new token in place of the old one; one’s own, or anybody’s for the owner',
    /** Name: left out, that of the caller. */
    body: z.strictObject({ name: z.string().min(1).max(32).optional() }),
    answer: user.admission,
  },
  'DELETE /v1/users/{name}': { id: 'removeUser', summary: 'Let somebody in no more', answer: user.userView },
  'GET /v1/secrets': {
    id: 'listSecrets',
    summary: 'Names of secrets, never their values',
    answer: z.array(secret.secretView),
  },
  'POST /v1/secrets': {
    id: 'setSecret',
    summary: 'Keep a secret, or replace it; sandboxes that run have the new value at once',
    body: z.strictObject({ name: secret.secretName, valueBase64: z.base64().min(1).max(1_500_000) }),
    answer: secret.secretView,
  },
  'DELETE /v1/secrets/{name}': {
    id: 'removeSecret',
    summary: 'Forget a secret that no sandbox is granted',
    answer: secret.secretView,
  },
  'GET /v1/credentials': {
    id: 'listCredentials',
    summary: 'Credentials: where they go and which secrets they carry, never the values',
    answer: z.array(credential.credentialView),
  },
  'POST /v1/credentials': {
    id: 'addCredential',
    summary: 'Have a secret added to requests for a service, outside of sandboxes',
    body: credential.credentialRequest,
    answer: credential.credentialView,
  },
  'DELETE /v1/credentials/{name}': {
    id: 'removeCredential',
    summary: 'Forget a credential that no sandbox was given',
    answer: credential.credentialView,
  },
  ...volumeRoutes,
  ...swarmRoutes,
  'POST /v1/fleet/compose': {
    id: 'composeFleet',
    summary: 'A docker-compose.yml of what a carrel.yaml declares',
    body: fleet.fleetRequest,
    answer: fleet.composedFleet,
  },
  'POST /v1/trust': {
    id: 'trustFile',
    summary: 'From now on a carrel.yaml may give sandboxes what it gives as it is; with dryRun only what that is',
    body: fleet.trustRequest,
    answer: fleet.trustView,
  },
  'POST /v1/fleet/plan': {
    id: 'planFleet',
    summary: 'What would have to be done so that the machine is as a carrel.yaml declares; nothing is done',
    body: fleet.fleetRequest,
    answer: fleet.fleetPlan,
  },
  'GET /v1/images': {
    id: 'listImages',
    summary: 'Images that sandboxes of whoever asks may be made of',
    answer: z.array(image.imageView),
  },
  'POST /v1/images/build': {
    id: 'buildImage',
    summary: 'Make the image of a project, or the base; progress frames, then one result',
    body: image.buildRequest,
    answer: 'frames',
  },
  'POST /v1/images/remove': {
    id: 'removeImage',
    summary: 'Remove an image that was made here and that no sandbox is made of',
    body: image.removeImageRequest,
    answer: image.imageView,
  },
  'GET /v1/sandboxes': {
    id: 'listSandboxes',
    summary: 'The sandboxes of whoever asks, or of all users for the owner',
    query: z.strictObject({ allUsers: flag.optional() }),
    answer: z.array(shape.sandboxView),
  },
  'POST /v1/sandboxes': {
    id: 'createSandbox',
    summary: 'Create a sandbox and start it',
    body: shape.sandboxRequest,
    answer: shape.sandboxView,
  },
  'GET /v1/sandboxes/{name}': { id: 'showSandbox', summary: 'One sandbox', answer: shape.sandboxView },
  'DELETE /v1/sandboxes/{name}': {
    id: 'removeSandbox',
    summary: 'Remove a sandbox; a running one only with `force`, with `staleMs` only one that ended so long ago',
    query: z.strictObject({
      force: flag.optional(),
      staleMs: count.optional(),
      dryRun: flag.optional(),
      id: shape.sandboxId.optional(),
    }),
    answer: shape.sandboxView,
  },
  'POST /v1/sandboxes/{name}/start': {
    id: 'startSandbox',
    summary: 'Start a sandbox that has ended',
    answer: shape.sandboxView,
  },
  'POST /v1/sandboxes/{name}/stop': {
    id: 'stopSandbox',
    summary: 'SIGTERM, then SIGKILL after the grace time',
    body: z.strictObject({
      graceMs: z.int().min(0).max(86_400_000, 'more than a day').optional(),
      id: shape.sandboxId.optional(),
    }),
    answer: shape.sandboxView,
  },
  'GET /v1/sandboxes/{name}/wait': {
    id: 'waitSandbox',
    summary: 'Answers when the sandbox has ended',
    answer: shape.sandboxView,
  },
  'GET /v1/sandboxes/{name}/logs': {
    id: 'sandboxLogs',
    summary: 'What its command wrote, as frames',
    query: z.strictObject({ follow: flag.optional(), tail: count.optional() }),
    answer: 'frames',
  },
  'GET /v1/stats': { id: 'sandboxStats', summary: 'What running sandboxes use', answer: z.array(shape.statsView) },
  'GET /v1/sizes': {
    id: 'sandboxSizes',
    summary: 'What sandboxes take on disk, snapshots included',
    answer: z.array(workspace.sizeView),
  },
  'POST /v1/sandboxes/{name}/changes': {
    id: 'listChanges',
    summary: 'What the agent changed',
    body: workspace.pathsRequest,
    answer: workspace.changesView,
  },
  'POST /v1/sandboxes/{name}/diff': {
    id: 'diffSandbox',
    summary: 'What the agent changed, as a unified diff in frames',
    body: workspace.pathsRequest,
    answer: 'frames',
  },
  'POST /v1/sandboxes/{name}/patch': {
    id: 'patchSandbox',
    summary: 'What the agent changed, as a mail for `git am` in frames',
    body: workspace.pathsRequest.extend({ message: z.string().min(1).max(65_536).optional() }),
    answer: 'frames',
  },
  'POST /v1/apply': {
    id: 'apply',
    summary: 'Take changes over into the project, or say what would happen',
    body: workspace.applyRequest,
    answer: workspace.applyView,
  },
  'POST /v1/sandboxes/{name}/undo': {
    id: 'undoApply',
    summary: 'Take the last apply back',
    answer: workspace.undoView,
  },
  'POST /v1/sandboxes/{name}/discard': {
    id: 'discardChanges',
    summary: 'Give changes up; a snapshot is taken first',
    body: workspace.pathsRequest,
    answer: workspace.discardView,
  },
  'GET /v1/sandboxes/{name}/snapshots': {
    id: 'listSnapshots',
    summary: 'Its snapshots, oldest first',
    answer: z.array(workspace.snapshotView),
  },
  'POST /v1/sandboxes/{name}/snapshots': {
    id: 'takeSnapshot',
    summary: 'Keep its workspace, home and data as they are now',
    body: workspace.snapshotRequest,
    answer: workspace.snapshotView,
  },
  'POST /v1/sandboxes/{name}/restore': {
    id: 'restoreSnapshot',
    summary: 'Go back to a snapshot; what is there now becomes one first',
    body: workspace.restoreRequest,
    answer: workspace.restoreView,
  },
  'POST /v1/sandboxes/{name}/fork': {
    id: 'forkSandbox',
    summary: 'New sandboxes, stopped, that begin where this one is',
    body: workspace.forkRequest,
    answer: z.array(shape.sandboxView),
  },
  ...networkRoutes,
  'GET /v1/sandboxes/{name}/attach': { id: 'attachSandbox', summary: 'The streams of its command', answer: 'upgrade' },
  'POST /v1/sandboxes/{name}/exec': {
    id: 'execSandbox',
    summary: 'Run a command inside; the first frame from the client is the request',
    body: shape.execRequest,
    answer: 'upgrade',
  },
} as const satisfies Record<string, Route>;

export type Routes = typeof routes;
export type RouteKey = keyof Routes;
/** Routes that answer in this way. */
export type Answering<A> = { [K in RouteKey]: Routes[K]['answer'] extends A ? K : never }[RouteKey];

/** What a client sends, before defaults and transforms. */
export type BodyOf<K extends RouteKey> = Routes[K] extends { body: infer B extends z.ZodType } ? z.input<B> : undefined;
export type QueryOf<K extends RouteKey> = Routes[K] extends { query: infer Q extends z.ZodType }
  ? z.output<Q>
  : Record<string, never>;
export type AnswerOf<K extends RouteKey> = Routes[K]['answer'] extends z.ZodType
  ? z.output<Routes[K]['answer']>
  : unknown;
