/** Routes for the daemon's token only. The daemon uses them to keep its copies equal to the logs. */
import { Fault } from '../../../../model/fault.ts';
import { sessionId } from '../../model/session.ts';
import { readLines } from './call.ts';
import { position } from './request-shape.ts';
import type { RouteTable } from './route.ts';
import { sessionOf, shown } from './session-routes.ts';

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
