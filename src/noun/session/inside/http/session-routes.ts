/** Routes of sessions, for all clients, and those for the daemon. */
import { Fault } from '../../../../model/fault.ts';
import { sessionId } from '../../model/session.ts';
import { summaryOf } from '../../model/view.ts';
import type { Session } from '../inside.ts';
import { type HttpCall, readJson, readLines } from './call.ts';
import { eventStream, framed, framedById } from './event-stream.ts';
import type { Pieces, Reply } from './reply.ts';
import {
  answerRequest,
  modeRequest,
  newFork,
  newSession,
  position,
  positions,
  promptRequest,
} from './request-shape.ts';
import type { RouteTable } from './route.ts';

const accepted = 202;

export const sessionRoutes: RouteTable = {
  'GET /health': ({ sessions, settings }) => ({
    json: {
      ...{ healthy: true, connected: true, sandbox: settings.sandbox, sessions: sessions.list().length },
      settings: settings.version ?? '',
    },
  }),
  'GET /sessions': (call) => ({ json: call.sessions.list().map((session) => summary(call, session)) }),
  'POST /sessions': async (call) => shown(call, await call.sessions.create(await readJson(call, newSession))),
  'GET /sessions/{id}': (call) => shown(call, sessionOf(call)),
  'DELETE /sessions/{id}': async (call) => {
    const { id } = sessionOf(call);
    await call.sessions.remove(id);
    return { json: { sessionId: id } };
  },
  'POST /sessions/{id}/prompt': async (call) => {
    const session = sessionOf(call);
    return { status: accepted, json: await session.prompt(await readJson(call, promptRequest)) };
  },
  'GET /events': ({ sessions, query, signal }) =>
    eventStream(framedById(sessions.followAll(positions(query.get('after')), signal))),
  'GET /sessions/{id}/events': (call) => followed(call, sessionOf(call)),
  'GET /sessions/{id}/messages': (call) => messages(sessionOf(call)),
  'POST /sessions/{id}/cancel': (call) => changed(call, (session) => session.cancel()),
  'POST /sessions/{id}/close': (call) => changed(call, (session) => session.close()),
  'GET /sessions/{id}/pending': (call) => ({ json: sessionOf(call).fold.questions }),
  'POST /sessions/{id}/pending/{pid}': (call) =>
    changed(call, async (session) => session.answer(call.params.pid!, await readJson(call, answerRequest))),
  'POST /sessions/{id}/fork': async (call) => {
    const { id } = sessionOf(call);
    return shown(call, await call.sessions.fork(id, await readJson(call, newFork)));
  },
  'POST /sessions/{id}/mode': (call) =>
    changed(call, async (session) => configure(session, await readJson(call, modeRequest))),
};

/** For the daemon's token only. The daemon uses them to keep its copies equal to the logs. */
export const hostRoutes: RouteTable = {
  'GET /sessions/{id}/digest': async (call) => {
    const session = sessionOf(call);
    const seq = position(call.query.get('seq') ?? undefined, 'seq');
    if (seq > session.fold.seq) throw new Fault('invalid', `the log has no event ${seq}, only ${session.fold.seq}`);
    return { json: { digest: await session.digest(seq) } };
  },
  'POST /sessions/{id}/restore': async (call) =>
    shown(call, await call.sessions.restore(sessionId(call.params.id, ['sessionId']), readLines(call))),
};

export function sessionOf({ sessions, params }: HttpCall): Session {
  return sessions.find(sessionId(params.id, ['sessionId']));
}

export function summary({ settings }: HttpCall, { id, fold }: Session) {
  return summaryOf(id, settings.sandbox, fold);
}

export function shown(call: HttpCall, session: Session): Reply {
  return { json: summary(call, session) };
}

async function changed(call: HttpCall, act: (session: Session) => Promise<void>): Promise<Reply> {
  const session = sessionOf(call);
  await act(session);
  return shown(call, session);
}

async function configure(session: Session, wanted: { mode?: string; model?: string; title?: string }): Promise<void> {
  if (wanted.mode !== undefined) await session.setMode(wanted.mode);
  if (wanted.model !== undefined) await session.setModel(wanted.model);
  if (wanted.title !== undefined) await session.rename(wanted.title);
}

/** A reconnecting client sends the header and the query; the header has the newer position. */
export function afterOf({ request, query }: Pick<HttpCall, 'request' | 'query'>, last: number): number {
  const header = request.headers['last-event-id'];
  const after = position(typeof header === 'string' ? header : (query.get('after') ?? undefined), 'the position');
  if (after > last) throw new Fault('invalid', `the position ${after} is after the last event, ${last}`);
  return after;
}

function followed(call: HttpCall, session: Session): Pieces {
  return eventStream(framed(session.follow(afterOf(call, session.fold.seq), call.signal)));
}

/** Sends the messages one by one, because together they can be large. */
function messages({ fold }: Session): Pieces {
  return { pieces: listed(fold.messages), headers: { 'Content-Type': 'application/json' } };
}

function* listed(values: readonly unknown[]): Iterable<string> {
  yield '[';
  for (const [at, value] of values.entries()) yield `${at === 0 ? '' : ','}${JSON.stringify(value)}`;
  yield ']';
}
