/** What each route does. The compiler checks that none is missing. */
import type { Context as HonoContext } from 'hono';
import { stream } from 'hono/streaming';
import type { z } from 'zod';
import { openapi } from '../api/openapi.ts';
import type { AnswerOf, RouteName, Routes } from '../api/routes.ts';
import { encodeFrame, encodeJson } from '../api/stream.ts';
import type { Doctor } from '../app/doctor/doctor.ts';
import type { EngineDesk } from '../app/engine/engines.ts';
import { eventsAfter, followEvents } from '../app/event/feed.ts';
import { networkStream } from '../app/network/log-stream.ts';
import { gathered } from '../app/sandbox/output.ts';
import type { Settings } from '../app/settings.ts';
import type { Users } from '../app/user/users.ts';
import type { Audit, Begun } from '../audit/audit.ts';
import type { Engine, LogLine, LogOptions } from '../engine/engine.ts';
import type { MadeJson } from '../lib/made-json.ts';
import type { Build } from '../lib/package.ts';
import type { Work } from '../lib/work.ts';
import { asFault } from '../model/fault.ts';
import type { Sandbox } from '../model/sandbox.ts';
import type { Actor } from '../model/user.ts';
import { requireOwner } from '../model/user.ts';
import type { Store } from '../store/store.ts';
import { auditStream, endWith } from './auditing.ts';
import type { Scope, Scopes } from './scope.ts';

export interface Served {
  readonly version: string;
  /** Null: what runs here was not built. */
  readonly build: Build | null;
  readonly home: string;
  readonly rootless: boolean;
  readonly startedAtMs: number;
  readonly store: Store;
  readonly audit: Audit;
  readonly engine: Engine;
  readonly settings: Pick<Settings, 'refresh' | 'refusal' | 'waiting' | 'notice'>;
  readonly users: Users;
  readonly scopes: Scopes;
  /** Makes some room on a full disk; false when no more can be made. */
  readonly giveUpSpace: () => boolean;
  /** What must not be broken off. */
  readonly work: Work;
  /** What a sandbox wrote, earlier starts included. */
  output(id: string, options: LogOptions): AsyncIterable<LogLine>;
  /** Notes what the project has before a command can change anything; never waits long. */
  commandBegins(sandbox: Sandbox): Promise<void>;
  /** Looks after a sandbox that may have changed something just now. */
  commandEnded(sandbox: Sandbox): Promise<void>;
  readonly doctor: Doctor;
  readonly engines: Pick<EngineDesk, 'list'>;
  shutdown(all: boolean): Promise<string[]>;
}

/** A request after its parts were checked against the route. */
export interface Checked<K extends RouteName> {
  readonly actor: Actor;
  readonly scope: Scope;
  readonly name: string;
  readonly query: Routes[K] extends { query: infer Q extends z.ZodType } ? z.output<Q> : Record<string, never>;
  readonly body: Routes[K] extends { body: infer B extends z.ZodType } ? z.output<B> : undefined;
  readonly context: HonoContext;
  /** To be ended by whoever answers with a stream; null where nothing is done. */
  readonly begun: Begun | null;
}

/** The two routes that answer with an upgrade are in `streams.ts`. */
export type HandledRoute = Exclude<RouteName, 'attachSandbox' | 'execSandbox'>;

type Answer<K extends HandledRoute> = Routes[K]['answer'] extends z.ZodType
  ? AnswerOf<K> | PartlyMade<AnswerOf<K>>
  : Response | object;

/** With lists that are JSON already. */
type PartlyMade<T> = { readonly [P in keyof T]: T[P] extends readonly object[] ? T[P] | MadeJson : T[P] };

export type Handlers = { [K in HandledRoute]: (request: Checked<K>) => Promise<Answer<K>> };

export function handlers(served: Served): Handlers {
  const { store, users, work } = served;
  const uptimeSeconds = () => Math.round((Date.now() - served.startedAtMs) / 1000);
  const settingsOf = ({ isOwner }: Actor) => {
    const refused = isOwner ? served.settings.refusal() : null;
    return { refused, waiting: isOwner ? [...served.settings.waiting] : [] };
  };
  return {
    health: async () => ({ status: 'ok', version: served.version, uptimeSeconds: uptimeSeconds() }),
    openapi: async () => openapi(served.version),
    status: async ({ actor, scope }) => ({
      version: served.version,
      pid: process.pid,
      home: served.home,
      uptimeSeconds: uptimeSeconds(),
      rootless: served.rootless,
      sandboxes: countBy((await scope.sandboxes.list()).map((view) => view.state)),
      lastSeq: store.lastSeq(),
      settings: settingsOf(actor),
    }),
    doctor: async ({ actor }) => {
      requireOwner(actor);
      return served.doctor.examine();
    },
    listEngines: () => served.engines.list(),
    shutdown: async ({ actor, body }) => {
      requireOwner(actor);
      return { stopped: await served.shutdown(body.all ?? false) };
    },
    events: ({ actor, query }) => eventsAfter(store, actor, query.after, query.limit) as Promise<AnswerOf<'events'>>,
    followEvents: async ({ actor, query, context }) => followEvents(store, actor, query.after, context),
    readAudit: async ({ actor, query, context }) => auditStream(served.audit, actor, query, context),
    listUsers: async ({ actor }) => users.list(actor),
    addUser: async ({ actor, body }) => {
      requireOwner(actor);
      return users.add(body.name, body.uid ?? null);
    },
    renewToken: async ({ actor, body }) => users.renewToken(actor, body.name ?? actor.name),
    removeUser: async ({ actor, name }) => {
      requireOwner(actor);
      return users.remove(name);
    },
    listVolumes: async ({ scope, query }) => scope.volumes.list(query.allUsers ?? false),
    volumeStatus: ({ scope, query }) => scope.volumes.status(query.allUsers ?? false),
    listBackups: ({ scope, query }) => scope.volumes.backups(query.allUsers ?? false),
    initVolumes: ({ scope, body }) => scope.volumes.initWith(body.plugins, body.names),
    createVolume: async ({ scope, body }) => scope.volumes.create(body.name),
    removeVolume: ({ scope, name, query }) => scope.volumes.remove(name, query.backup ?? true),
    removeBackup: async ({ scope, body }) => ({ file: await scope.volumes.removeBackup(body.file) }),
    cleanVolumes: ({ scope, body }) => scope.volumes.clean(body),
    migrateVolumes: ({ scope, body }) => scope.volumes.migrate(body.folder),
    backupVolume: ({ scope, name }) => scope.volumes.backup(name),
    restoreVolume: ({ scope, body }) => scope.volumes.restore(body.file),
    listSecrets: async ({ scope }) => scope.secrets.list(),
    setSecret: async ({ scope, body }) => scope.secrets.set(body.name, Buffer.from(body.valueBase64, 'base64')),
    removeSecret: async ({ scope, name }) => scope.secrets.remove(name),
    listCredentials: async ({ scope }) => scope.credentials.list(),
    addCredential: async ({ scope, body }) => scope.credentials.add(body),
    removeCredential: async ({ scope, name }) => scope.credentials.remove(name),
    listTasks: async ({ scope, query }) => scope.tasks.list(query.project),
    showTask: async ({ scope, query }) => scope.tasks.show(query.file),
    markStory: ({ scope, body }) => scope.tasks.mark(body),
    skipStory: ({ scope, body }) => scope.tasks.skip(body.file, body.story),
    resetStories: ({ scope, body }) => scope.tasks.reset(body.file),
    composeFleet: async ({ scope, body }) => scope.fleets.compose(body),
    trustFile: async ({ scope, body: { dryRun, ...file } }) =>
      dryRun ? scope.trusts.show(file) : scope.trusts.trust(file),
    planFleet: ({ scope, body }) => scope.fleets.plan(body),
    listImages: ({ scope }) => scope.images.list(),
    removeImage: ({ scope, body }) => scope.images.remove(body.name),
    buildImage: async ({ scope, body, context, begun }) => progressFrames(scope.images.order(body), context, begun),
    runSwarm: ({ scope, body }) => scope.swarms.run(body),
    showSwarm: ({ scope, query }) => scope.swarms.show(query.project),
    resumeSwarm: ({ scope, body }) => scope.swarms.resume(body),
    stopSwarm: ({ scope, body }) => scope.swarms.stop(body.project, body.names),
    exportSwarm: ({ scope, query }) => scope.swarms.export(query.project),
    keepSwarmFile: ({ scope, body }) => scope.swarms.keepFile(body.project, body.file),
    initSwarm: ({ scope, body }) => scope.swarms.init(body.project, body.force ?? false),
    addContainer: async ({ scope, body }) => scope.swarms.add(body),
    updateContainer: async ({ scope, body }) => scope.swarms.update(body),
    removeContainer: async ({ scope, body }) => scope.swarms.remove(body.project, body.containerName),
    cleanSwarm: ({ scope, body }) => scope.swarms.cleanup(body.project),
    listSandboxes: ({ actor, scope, query }) => {
      if (query.allUsers) requireOwner(actor);
      return scope.sandboxes.list(query.allUsers ?? false);
    },
    createSandbox: ({ actor, body }) => served.scopes.of(users.actAs(actor, body.user)).sandboxes.create(body),
    showSandbox: ({ scope, name }) => scope.sandboxes.show(name),
    removeSandbox: ({ scope, name, query }) => scope.sandboxes.remove(name, query),
    startSandbox: ({ scope, name }) => scope.sandboxes.start(name),
    stopSandbox: ({ scope, name, body }) => scope.sandboxes.stop(name, body.graceMs, body.id),
    waitSandbox: ({ scope, name, context }) =>
      served.work.wait(context.req.raw.signal, (signal) => scope.sandboxes.wait(name, signal)),
    sandboxLogs: async ({ scope, name, query, context }) => {
      const { id } = (await scope.sandboxes.seen(name)).row;
      return logFrames((options) => served.output(id, options), query.follow ?? false, query.tail ?? null, context);
    },
    sandboxStats: ({ scope }) => scope.sandboxes.stats(),
    sandboxSizes: ({ scope }) => scope.snapshots.sizes(),
    listChanges: ({ scope, name, body, context }) => scope.reviews.changes(name, body.paths, context.req.raw.signal),
    diffSandbox: async ({ scope, name, body, context }) =>
      outputFrames(() => scope.reviews.diff(name, body.paths, context.req.raw.signal), context),
    patchSandbox: async ({ scope, name, body, context }) => {
      const order = { paths: body.paths ?? [], message: body.message };
      return outputFrames((warn) => scope.reviews.patch(name, order, warn, context.req.raw.signal), context);
    },
    apply: ({ scope, body }) => work.run(() => scope.applies.apply(body)),
    undoApply: ({ scope, name }) => work.run(() => scope.applies.undo(name)),
    discardChanges: ({ scope, name, body }) => work.run(() => scope.snapshots.discard(name, body.paths)),
    listSnapshots: ({ scope, name }) => scope.snapshots.list(name),
    takeSnapshot: ({ scope, name, body }) => work.run(() => scope.snapshots.take(name, body.label ?? null)),
    restoreSnapshot: ({ scope, name, body }) => work.run(() => scope.snapshots.restore(name, body.snapshot)),
    changeNetwork: ({ scope, name, body }) => scope.network.change(name, body.allow ?? [], body.deny ?? []),
    explainNetwork: ({ scope, name, body }) => scope.network.explain(name, body.asked),
    networkLog: ({ scope, name, query, context }) => networkStream(scope.network, name, query, context),
    listPorts: async ({ scope }) => scope.network.listPorts(),
    addPort: ({ scope, name, body }) => scope.network.addPort(name, body.port, body),
    removePort: ({ scope, name, body }) => scope.network.removePort(name, body.port, body.hostPort),
    forkSandbox: ({ scope, name, body }) => work.run(() => scope.snapshots.fork(name, body.names)),
  };
}

function countBy(keys: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const key of keys) counts[key] = (counts[key] ?? 0) + 1;
  return counts;
}

function logFrames(
  output: (options: LogOptions) => AsyncIterable<LogLine>,
  follow: boolean,
  tail: number | null,
  context: HonoContext,
): Response {
  return frames(context, async (write, signal) => {
    for await (const { stream, bytes } of gathered(output({ follow, tail, signal }))) {
      await write(encodeFrame(stream, bytes));
    }
  });
}

/** Whoever goes away stops it; what goes wrong is the last frame. */
function frames(
  context: HonoContext,
  produce: (write: (frame: Buffer) => Promise<void>, signal: AbortSignal) => Promise<void>,
): Response {
  const abort = new AbortController();
  context.header('content-type', 'application/octet-stream');
  return stream(context, async (out) => {
    out.onAbort(() => abort.abort());
    try {
      await produce(async (frame) => void (await out.write(frame)), abort.signal);
    } catch (error) {
      await out.write(encodeJson('fault', asFault(error)));
    }
  });
}

/** A refusal before the first byte is an ordinary answer; later it can only be a frame. */
async function outputFrames(
  produce: (warn: (text: string) => void) => AsyncGenerator<Buffer>,
  context: HonoContext,
): Promise<Response> {
  const warnings: string[] = [];
  const chunks = produce((text) => void warnings.push(text));
  const first = await chunks.next();
  context.header('content-type', 'application/octet-stream');
  return stream(context, async (out) => {
    out.onAbort(() => void chunks.return(undefined));
    try {
      for (const text of warnings) await out.write(encodeFrame('stderr', Buffer.from(`${text}\n`)));
      if (!first.done) await out.write(encodeFrame('stdout', first.value));
      for await (const chunk of chunks) await out.write(encodeFrame('stdout', chunk));
    } catch (error) {
      await out.write(encodeJson('fault', asFault(error)));
    }
  });
}

/** What it says on its way, then what came of it. */
function progressFrames(
  work: (say: (event: object) => Promise<void>, signal: AbortSignal) => Promise<object>,
  context: HonoContext,
  begun: Begun | null,
): Response {
  return frames(context, async (write, signal) => {
    try {
      const result = await work((event) => write(encodeJson('progress', event)), signal);
      begun?.end('ok');
      await write(encodeJson('result', result));
    } catch (error) {
      if (begun) endWith(begun, error);
      throw error;
    }
  });
}
