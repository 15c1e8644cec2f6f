/** What each route does. The compiler checks that none is missing. */
import type { Context as HonoContext } from 'hono';
import { stream } from 'hono/streaming';
import type { z } from 'zod';
import { openapi } from '../api/openapi.ts';
import type { AnswerOf, RouteKey, Routes } from '../api/routes.ts';
import { encodeFrame, encodeJson } from '../api/stream.ts';
import type { SpaceHints } from '../app/disk/space-hint.ts';
import type { Doctor } from '../app/doctor/doctor.ts';
import type { EngineDesk } from '../app/engine/engines.ts';
import { eventsAfter, followEvents } from '../app/event/feed.ts';
import { networkStream } from '../app/network/log-stream.ts';
import { gathered } from '../app/sandbox/output.ts';
import type { Settings } from '../app/settings.ts';
import type { Users } from '../app/user/users.ts';
import type { Audit, Begun } from '../audit/audit.ts';
import type { EngineOf, LogLine, LogOptions } from '../engine/engine.ts';
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
  readonly engineOf: EngineOf;
  readonly settings: Pick<Settings, 'refresh' | 'refusal' | 'waiting' | 'notice'>;
  readonly users: Users;
  readonly scopes: Scopes;
  /** Makes some room on a full disk; false when no more can be made. */
  readonly giveUpSpace: () => boolean;
  /** Names what to remove where a request was refused because the disk is full. */
  readonly spaceHints: Pick<SpaceHints, 'named'>;
  /** What must not be broken off. */
  readonly work: Work;
  /** What a sandbox wrote, earlier starts included. */
  output(sandbox: Sandbox, options: LogOptions): AsyncIterable<LogLine>;
  /** Notes what the project has before a command can change anything; never waits long. */
  commandBegins(sandbox: Sandbox): Promise<void>;
  /** Looks after a sandbox that may have changed something just now. */
  commandEnded(sandbox: Sandbox): Promise<void>;
  readonly doctor: Doctor;
  readonly engines: Pick<EngineDesk, 'list'>;
  shutdown(all: boolean): Promise<string[]>;
}

/** A request after its parts were checked against the route. */
export interface Checked<K extends RouteKey> {
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
export type HandledRoute = Exclude<RouteKey, 'GET /v1/sandboxes/{name}/attach' | 'POST /v1/sandboxes/{name}/exec'>;

type Answer<K extends HandledRoute> = Routes[K]['answer'] extends z.ZodType
  ? AnswerOf<K> | PartlyMade<AnswerOf<K>> | MadeJson
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
    'GET /health': async () => ({ status: 'ok', version: served.version, uptimeSeconds: uptimeSeconds() }),
    'GET /openapi.json': async () => openapi(served.version),
    'GET /v1/status': async ({ actor, scope }) => ({
      version: served.version,
      pid: process.pid,
      home: served.home,
      uptimeSeconds: uptimeSeconds(),
      rootless: served.rootless,
      sandboxes: countBy((await scope.sandboxes.list()).map((view) => view.state)),
      lastSeq: store.lastSeq(),
      settings: settingsOf(actor),
    }),
    'GET /v1/doctor': async ({ actor }) => {
      requireOwner(actor);
      return served.doctor.examine();
    },
    'GET /v1/engines': () => served.engines.list(),
    'POST /v1/shutdown': async ({ actor, body }) => {
      requireOwner(actor);
      return { stopped: await served.shutdown(body.all ?? false) };
    },
    'GET /v1/events': ({ actor, query }) =>
      eventsAfter(store, actor, query.after, query.limit) as Promise<AnswerOf<'GET /v1/events'>>,
    'GET /v1/events/stream': async ({ actor, query, context }) => followEvents(store, actor, query.after, context),
    'GET /v1/audit': async ({ actor, query, context }) => auditStream(served.audit, actor, query, context),
    'GET /v1/users': async ({ actor }) => users.list(actor),
    'POST /v1/users': async ({ actor, body }) => {
      requireOwner(actor);
      return users.add(body.name, body.uid ?? null);
    },
    'POST /v1/users/token': async ({ actor, body }) => users.renewToken(actor, body.name ?? actor.name),
    'DELETE /v1/users/{name}': async ({ actor, name }) => {
      requireOwner(actor);
      return users.remove(name);
    },
    'GET /v1/volumes': async ({ scope, query }) => scope.volumes.list(query.allUsers ?? false),
    'GET /v1/volumes/status': ({ scope, query }) => scope.volumes.status(query.allUsers ?? false),
    'GET /v1/volumes/backups': ({ scope, query }) => scope.volumes.backups(query.allUsers ?? false),
    'POST /v1/volumes': ({ scope, body }) => scope.volumes.initWith(body.plugins, body.names),
    'POST /v1/volumes/named': async ({ scope, body }) => scope.volumes.create(body.name),
    'DELETE /v1/volumes/{name}': ({ scope, name, query }) => scope.volumes.remove(name, query.backup ?? true),
    'POST /v1/volumes/backups/remove': async ({ scope, body }) => ({
      file: await scope.volumes.removeBackup(body.file),
    }),
    'POST /v1/volumes/clean': ({ scope, body }) => scope.volumes.clean(body),
    'POST /v1/volumes/migrate': ({ scope, body }) => scope.volumes.migrate(body.folder),
    'POST /v1/volumes/{name}/backup': ({ scope, name }) => scope.volumes.backup(name),
    'POST /v1/volumes/restore': ({ scope, body }) => scope.volumes.restore(body.file),
    'GET /v1/secrets': async ({ scope }) => scope.secrets.list(),
    'POST /v1/secrets': async ({ scope, body }) =>
      scope.secrets.set(body.name, Buffer.from(body.valueBase64, 'base64')),
    'DELETE /v1/secrets/{name}': async ({ scope, name }) => scope.secrets.remove(name),
    'GET /v1/credentials': async ({ scope }) => scope.credentials.list(),
    'POST /v1/credentials': async ({ scope, body }) => scope.credentials.add(body),
    'DELETE /v1/credentials/{name}': async ({ scope, name }) => scope.credentials.remove(name),
    'GET /v1/tasks': async ({ scope, query }) => scope.tasks.list(query.project),
    'GET /v1/tasks/file': async ({ scope, query }) => scope.tasks.show(query.file),
    'POST /v1/tasks/mark': ({ scope, body }) => scope.tasks.mark(body),
    'POST /v1/tasks/skip': ({ scope, body }) => scope.tasks.skip(body.file, body.story),
    'POST /v1/tasks/reset': ({ scope, body }) => scope.tasks.reset(body.file),
    'POST /v1/fleet/compose': async ({ scope, body }) => scope.fleets.compose(body),
    'POST /v1/trust': async ({ scope, body: { dryRun, ...file } }) =>
      dryRun ? scope.trusts.show(file) : scope.trusts.trust(file),
    'POST /v1/fleet/plan': ({ scope, body }) => scope.fleets.plan(body),
    'GET /v1/images': ({ scope }) => scope.images.list(),
    'POST /v1/images/remove': ({ scope, body }) => scope.images.remove(body.name),
    'POST /v1/images/build': async ({ scope, body, context, begun }) =>
      progressFrames(scope.images.order(body), context, begun),
    'POST /v1/swarm/run': ({ scope, body }) => scope.swarms.run(body),
    'GET /v1/swarm/show': ({ scope, query }) => scope.swarms.show(query.project),
    'POST /v1/swarm/resume': ({ scope, body }) => scope.swarms.resume(body),
    'POST /v1/swarm/stop': ({ scope, body }) => scope.swarms.stop(body.project, body.names),
    'GET /v1/swarm': ({ scope, query }) => scope.swarms.export(query.project),
    'POST /v1/swarm/file': ({ scope, body }) => scope.swarms.keepFile(body.project, body.file),
    'POST /v1/swarm/init': ({ scope, body }) => scope.swarms.init(body.project, body.force ?? false),
    'POST /v1/swarm/add': async ({ scope, body }) => scope.swarms.add(body),
    'POST /v1/swarm/update': async ({ scope, body }) => scope.swarms.update(body),
    'POST /v1/swarm/remove': async ({ scope, body }) => scope.swarms.remove(body.project, body.containerName),
    'POST /v1/swarm/cleanup': ({ scope, body }) => scope.swarms.cleanup(body.project),
    'GET /v1/sandboxes': ({ actor, scope, query }) => {
      if (query.allUsers) requireOwner(actor);
      return scope.sandboxes.listJson(query.allUsers ?? false);
    },
    'POST /v1/sandboxes': ({ actor, body }) => served.scopes.of(users.actAs(actor, body.user)).sandboxes.create(body),
    'GET /v1/sandboxes/{name}': ({ scope, name }) => scope.sandboxes.show(name),
    'DELETE /v1/sandboxes/{name}': ({ scope, name, query }) => scope.sandboxes.remove(name, query),
    'POST /v1/sandboxes/{name}/start': ({ scope, name }) => scope.sandboxes.start(name),
    'POST /v1/sandboxes/{name}/stop': ({ scope, name, body }) => scope.sandboxes.stop(name, body.graceMs, body.id),
    'GET /v1/sandboxes/{name}/wait': ({ scope, name, context }) =>
      served.work.wait(context.req.raw.signal, (signal) => scope.sandboxes.wait(name, signal)),
    'GET /v1/sandboxes/{name}/logs': async ({ scope, name, query, context }) => {
      const { value } = (await scope.sandboxes.seen(name)).row;
      return logFrames((options) => served.output(value, options), query.follow ?? false, query.tail ?? null, context);
    },
    'GET /v1/stats': ({ scope }) => scope.sandboxes.stats(),
    'GET /v1/sizes': ({ scope }) => scope.snapshots.sizes(),
    'POST /v1/sandboxes/{name}/changes': ({ scope, name, body, context }) =>
      scope.reviews.changes(name, body.paths, context.req.raw.signal),
    'POST /v1/sandboxes/{name}/diff': async ({ scope, name, body, context }) =>
      outputFrames(() => scope.reviews.diff(name, body.paths, context.req.raw.signal), context),
    'POST /v1/sandboxes/{name}/patch': async ({ scope, name, body, context }) => {
      const order = { paths: body.paths ?? [], message: body.message };
      return outputFrames((warn) => scope.reviews.patch(name, order, warn, context.req.raw.signal), context);
    },
    'POST /v1/apply': ({ scope, body }) => work.run(() => scope.applies.apply(body)),
    'POST /v1/sandboxes/{name}/undo': ({ scope, name }) => work.run(() => scope.applies.undo(name)),
    'POST /v1/sandboxes/{name}/discard': ({ scope, name, body }) =>
      work.run(() => scope.snapshots.discard(name, body.paths)),
    'GET /v1/sandboxes/{name}/snapshots': ({ scope, name }) => scope.snapshots.list(name),
    'POST /v1/sandboxes/{name}/snapshots': ({ scope, name, body }) =>
      work.run(() => scope.snapshots.take(name, body.label ?? null)),
    'POST /v1/sandboxes/{name}/restore': ({ scope, name, body }) =>
      work.run(() => scope.snapshots.restore(name, body.snapshot)),
    'POST /v1/sandboxes/{name}/network': ({ scope, name, body }) =>
      scope.network.change(name, body.allow ?? [], body.deny ?? []),
    'POST /v1/sandboxes/{name}/network/explain': ({ scope, name, body }) => scope.network.explain(name, body.asked),
    'GET /v1/sandboxes/{name}/network/log': ({ scope, name, query, context }) =>
      networkStream(scope.network, name, query, context),
    'GET /v1/ports': async ({ scope }) => scope.network.listPorts(),
    'POST /v1/sandboxes/{name}/ports': ({ scope, name, body }) => scope.network.addPort(name, body.port, body),
    'POST /v1/sandboxes/{name}/ports/remove': ({ scope, name, body }) =>
      scope.network.removePort(name, body.port, body.hostPort),
    'POST /v1/sandboxes/{name}/fork': ({ scope, name, body }) => work.run(() => scope.snapshots.fork(name, body.names)),
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
