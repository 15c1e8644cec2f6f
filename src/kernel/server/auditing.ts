/** Records the acts of users in the audit log. */

import { asFault, type Fault } from '../../model/fault.ts';
import type { Actor } from '../../model/user.ts';
import type { Audit, AuditTarget, Act as LoggedAct, OpenAct, Peer } from '../audit/audit.ts';
import type { Store } from '../store/store.ts';
import { type Done, endWith, type Route, type RouteAct } from './route.ts';

export interface Auditing {
  readonly audit: Audit;
  readonly store: Pick<Store, 'find'>;
}

/** The part of a scope that the server needs: it keeps texts with the value of a secret out of the log. */
export interface SecretCheck {
  readonly secrets: { refuseText(where: string, ...texts: readonly string[]): void };
}

/** A request after its parts were checked against the route. */
export interface CheckedRequest {
  readonly actor: Actor;
  readonly scope: SecretCheck;
  readonly name: string;
  readonly path: Readonly<Record<string, string>>;
  readonly query?: unknown;
  readonly body?: unknown;
  readonly lastEventId?: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Calls the handler of a route. The line in the audit log is written before the answer is sent. If the answer is a
 * stream, the act lasts until the stream ends: the caller then ends `openAct`.
 */
export async function audited(
  parts: Auditing,
  route: Route,
  request: CheckedRequest,
  peer: Peer | null,
): Promise<{ readonly answer: object; readonly openAct: OpenAct | null }> {
  const handle = route.handle as (request: CheckedRequest) => Promise<object>;
  const act = describe(route, request);
  if (act === null) return { answer: await handle(request), openAct: null };
  const refusal = refusalOf(act, request);
  const openAct = begin(parts, request.actor, refusal ? { ...act, names: [] } : act, peer);
  try {
    if (refusal) throw refusal;
    const answer = await handle(request);
    if (typeof route.answer === 'string') return { answer, openAct };
    const { targets, detail } = (route.done as ((answer: object) => Done) | undefined)?.(answer) ?? {};
    openAct.end('ok', { ...(targets ? { targets } : {}), ...(detail ? { detail } : {}) });
    return { answer, openAct: null };
  } catch (error) {
    endWith(openAct, error);
    throw error;
  }
}

/** Checks the texts before anything is logged, because the names in the log may contain the same secret. */
function refusalOf({ words = {} }: RouteAct, { scope }: CheckedRequest): Fault | null {
  try {
    for (const [where, texts] of Object.entries(words))
      scope.secrets.refuseText(where, ...texts.filter((text) => text !== undefined));
    return null;
  } catch (error) {
    return asFault(error);
  }
}

/** Begins the act of a stream; its handler ends the act. */
export function beginAct(parts: Auditing, route: Route, request: CheckedRequest, peer: Peer | null): OpenAct {
  return begin(parts, request.actor, describe(route, request)!, peer);
}

function describe({ act }: Route, request: CheckedRequest): RouteAct | null {
  return (act as ((request: CheckedRequest) => RouteAct | null) | null)?.(request) ?? null;
}

/** Begins an act. Its details are logged only if it succeeds. */
function begin({ audit, store }: Auditing, actor: Actor, act: RouteAct, peer: Peer | null): OpenAct {
  const openAct = audit.begin(logged(store, actor, act, peer), act.frees);
  return {
    end: (outcome, found = {}) =>
      openAct.end(outcome, outcome === 'ok' ? { ...found, detail: { ...act.detail, ...found.detail } } : found),
  };
}

function logged(
  store: Auditing['store'],
  actor: Actor,
  { verb, names, ofSandboxes, as }: RouteAct,
  peer: Peer | null,
): LoggedAct {
  const acting = as ?? actor.name;
  const user = actor.by ?? actor.name;
  return {
    user,
    as: acting === user ? null : acting,
    verb,
    targets: names.map((name) => (ofSandboxes ? sandboxTarget(store, acting, name) : { name })),
    peer,
  };
}

function sandboxTarget(store: Auditing['store'], owner: string, name: string): AuditTarget {
  const id = store.find('sandbox', owner, name)?.id;
  return id === undefined ? { name } : { name, id };
}
