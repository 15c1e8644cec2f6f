/** What each route does. The compiler checks that none is missing. */
import type { Context as HonoContext } from 'hono';
import { stream, streamSSE } from 'hono/streaming';
import type { z } from 'zod';
import { openapi } from '../api/openapi.ts';
import type { AnswerOf, RouteName, Routes } from '../api/routes.ts';
import { encodeFrame, encodeJson } from '../api/stream.ts';
import type { Engine } from '../engine/engine.ts';
import { asFault } from '../model/fault.ts';
import type { Sandbox } from '../model/sandbox.ts';
import type { Store } from '../store/store.ts';
import type { Applies } from './applies.ts';
import type { Doctor } from './doctor.ts';
import type { Reviews } from './reviews.ts';
import type { Sandboxes } from './sandboxes.ts';
import type { Snapshots } from './snapshots.ts';

export interface Served {
  readonly version: string;
  readonly home: string;
  readonly rootless: boolean;
  readonly startedAtMs: number;
  readonly store: Store;
  readonly engine: Engine;
  readonly sandboxes: Sandboxes;
  readonly reviews: Reviews;
  readonly applies: Applies;
  readonly snapshots: Snapshots;
  /** Looks after a sandbox that may have changed something just now. */
  commandEnded(sandbox: Sandbox): Promise<void>;
  readonly doctor: Doctor;
  shutdown(all: boolean): Promise<string[]>;
}

/** A request after its parts were checked against the route. */
export interface Checked<K extends RouteName> {
  readonly name: string;
  readonly query: Routes[K] extends { query: infer Q extends z.ZodType } ? z.output<Q> : Record<string, never>;
  readonly body: Routes[K] extends { body: infer B extends z.ZodType } ? z.output<B> : undefined;
  readonly context: HonoContext;
}

/** The two routes that answer with an upgrade are in `streams.ts`. */
export type HandledRoute = Exclude<RouteName, 'attachSandbox' | 'execSandbox'>;

type Answer<K extends HandledRoute> = Routes[K]['answer'] extends z.ZodType ? AnswerOf<K> : Response | object;

export type Handlers = { [K in HandledRoute]: (request: Checked<K>) => Promise<Answer<K>> };

const maxEvents = 1000;

export function handlers(served: Served): Handlers {
  const { sandboxes, store, reviews, applies, snapshots } = served;
  const uptimeSeconds = () => Math.round((Date.now() - served.startedAtMs) / 1000);
  return {
    health: async () => ({ status: 'ok', version: served.version, uptimeSeconds: uptimeSeconds() }),
    openapi: async () => openapi(served.version),
    status: async () => ({
      version: served.version,
      pid: process.pid,
      home: served.home,
      uptimeSeconds: uptimeSeconds(),
      rootless: served.rootless,
      sandboxes: countBy((await sandboxes.list()).map((view) => view.state)),
      lastSeq: store.lastSeq(),
    }),
    doctor: () => served.doctor.examine(),
    shutdown: async ({ body }) => ({ stopped: await served.shutdown(body.all ?? false) }),
    events: async ({ query }) =>
      store.events(query.after ?? 0, Math.min(query.limit ?? maxEvents, maxEvents)) as AnswerOf<'events'>,
    followEvents: async ({ query, context }) => followEvents(store, query.after, context),
    listSandboxes: () => sandboxes.list(),
    createSandbox: ({ body }) => sandboxes.create(body),
    showSandbox: ({ name }) => sandboxes.show(name),
    removeSandbox: ({ name, query }) => sandboxes.remove(name, query.force ?? false),
    startSandbox: ({ name }) => sandboxes.start(name),
    stopSandbox: ({ name, body }) => sandboxes.stop(name, body.graceMs),
    waitSandbox: ({ name, context }) => sandboxes.wait(name, context.req.raw.signal),
    sandboxLogs: async ({ name, query, context }) => {
      const { id } = await sandboxes.current(name);
      return logFrames(served.engine, id, query.follow ?? false, query.tail ?? null, context);
    },
    sandboxStats: () => sandboxes.stats(),
    sandboxSizes: () => snapshots.sizes(),
    listChanges: ({ name, body }) => reviews.changes(name, body.paths),
    diffSandbox: async ({ name, body, context }) => outputFrames(() => reviews.diff(name, body.paths), context),
    patchSandbox: async ({ name, body, context }) => {
      const order = { paths: body.paths ?? [], message: body.message };
      return outputFrames((warn) => reviews.patch(name, order, warn), context);
    },
    apply: ({ body }) => applies.apply(body),
    undoApply: ({ name }) => applies.undo(name),
    discardChanges: ({ name, body }) => snapshots.discard(name, body.paths),
    listSnapshots: ({ name }) => snapshots.list(name),
    takeSnapshot: ({ name, body }) => snapshots.take(name, body.label ?? null),
    restoreSnapshot: ({ name, body }) => snapshots.restore(name, body.snapshot),
    forkSandbox: ({ name, body }) => snapshots.fork(name, body.names),
  };
}

function countBy(keys: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const key of keys) counts[key] = (counts[key] ?? 0) + 1;
  return counts;
}

/** Replays from the store and goes on with it as events come, so that none is missed in between. */
function followEvents(store: Store, after: number | undefined, context: HonoContext): Response {
  const lastId = Number(context.req.header('last-event-id') ?? Number.NaN);
  return streamSSE(context, async (sse) => {
    let seq = Number.isSafeInteger(lastId) ? lastId : (after ?? store.lastSeq());
    let wake = () => {};
    const forget = store.subscribe(() => wake());
    sse.onAbort(() => wake());
    try {
      while (!sse.aborted && !sse.closed) {
        const events = store.events(seq, maxEvents);
        for (const event of events) {
          await sse.writeSSE({ id: String(event.seq), event: event.type, data: JSON.stringify(event) });
          seq = event.seq;
        }
        if (events.length === 0)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      forget();
    }
  });
}

function logFrames(engine: Engine, id: string, follow: boolean, tail: number | null, context: HonoContext): Response {
  const abort = new AbortController();
  context.header('content-type', 'application/octet-stream');
  return stream(context, async (out) => {
    out.onAbort(() => abort.abort());
    try {
      for await (const line of engine.logs(id, { follow, tail, signal: abort.signal })) {
        await out.write(encodeFrame(line.stream, line.bytes));
      }
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
