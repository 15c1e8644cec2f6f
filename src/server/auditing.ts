/** Acts of users on their way into the audit log, and the log on its way out. */
import type { Socket } from 'node:net';
import type { Context as HonoContext } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { RouteKey } from '../api/routes.ts';
import type { SecretDesk } from '../app/secret/secrets.ts';
import type { Users } from '../app/user/users.ts';
import type { Act, Audit, Begun, Entry, Peer, Target } from '../audit/audit.ts';
import { type IdMapping, outsideId, readIdMap } from '../lib/id-map.ts';
import { peerOf } from '../lib/sys.ts';
import { asFault, type Fault } from '../model/fault.ts';
import type { Actor } from '../model/user.ts';
import type { Store } from '../store/store.ts';
import { acts, type Described, type Done, done } from './acts.ts';

export interface Auditing {
  readonly audit: Audit;
  readonly store: Store;
}

export interface Asking {
  readonly actor: Actor;
  /** Of whoever acts. */
  readonly scope?: { readonly secrets: Pick<SecretDesk, 'refuseText'> };
  readonly name: string;
  readonly query?: unknown;
  readonly body?: unknown;
}

/**
 * Does what a route does, with its line in the audit log written before the answer is known to anybody. Where the answer is
 * a stream, the act goes on while it is sent, and whoever sends it says how it ended.
 */
export async function audited<T>(
  parts: Auditing,
  route: RouteKey,
  asking: Asking,
  peer: Peer | null,
  task: (begun: Begun | null) => Promise<T>,
): Promise<T> {
  const described = describe(route, asking);
  if (described === null) return task(null);
  const refusal = refusalOf(described, asking);
  const begun = begin(parts, asking.actor, refusal ? { ...described, names: [] } : described, peer);
  try {
    if (refusal) throw refusal;
    const answer = await task(begun);
    if (answer instanceof Response) return answer;
    const { targets, detail } = (done[route] as ((answer: T) => Done) | undefined)?.(answer) ?? {};
    begun.end('ok', { ...(targets ? { targets } : {}), ...(detail ? { detail } : {}) });
    return answer;
  } catch (error) {
    endWith(begun, error);
    throw error;
  }
}

/** Before anything is noted of it, which may have the same words. */
function refusalOf({ words = {} }: Described, { scope }: Asking): Fault | null {
  try {
    for (const [where, texts] of Object.entries(words))
      scope?.secrets.refuseText(where, ...texts.filter((text) => text !== undefined));
    return null;
  } catch (error) {
    return asFault(error);
  }
}

/** What is not even a name may be anything that was typed in its place, a value of a secret too. */
export function endWith(begun: Begun, error: unknown): void {
  const { code } = asFault(error);
  begun.end(code, code === 'invalid' ? { targets: [] } : {});
}

/** For what begins long before it ends: whoever lets it in says when it is under way. */
export function beginAct(
  parts: Auditing,
  route: 'GET /v1/sandboxes/{name}/attach' | 'POST /v1/sandboxes/{name}/exec',
  asking: Asking,
  peer: Peer | null,
): Begun {
  return begin(parts, asking.actor, describe(route, asking)!, peer);
}

function describe(route: RouteKey, asking: Asking): Described | null {
  return (acts[route] as ((asked: Asking) => Described | null) | null)?.(asking) ?? null;
}

/** What was asked for in detail is told only of what was done. */
function begin({ audit, store }: Auditing, actor: Actor, described: Described, peer: Peer | null): Begun {
  const begun = audit.begin(actOf(store, actor, described, peer), described.frees);
  return {
    end: (outcome, found = {}) =>
      begun.end(outcome, outcome === 'ok' ? { ...found, detail: { ...described.detail, ...found.detail } } : found),
  };
}

function actOf(store: Store, actor: Actor, { verb, names, as }: Described, peer: Peer | null): Act {
  const acting = as ?? actor.name;
  const user = actor.by ?? actor.name;
  return {
    user,
    as: acting === user ? null : acting,
    verb,
    targets: names.map((name) => (verb.startsWith('sandbox.') ? sandboxTarget(store, acting, name) : { name })),
    peer,
  };
}

/** Names come back with other sandboxes behind them; ids do not. */
function sandboxTarget(store: Store, owner: string, name: string): Target {
  const id = store.find('sandbox', owner, name)?.id;
  return id === undefined ? { name } : { name, id };
}

/** Who comes in; whoever may not has a line, too. The owner may come as anybody. */
export function admit({ audit, users }: Auditing & { readonly users: Users }, visit: Visit, peer: Peer | null): Actor {
  const { authorization, as, ownersDoor } = visit;
  const refused = (user: string | null, names: readonly string[], error: unknown): never => {
    const targets = names.map((name) => ({ name }));
    endWith(audit.begin({ user, as: null, verb: 'access', targets, peer }, true), error);
    throw error;
  };
  let actor: Actor;
  try {
    actor = users.actor(authorization, ownersDoor);
  } catch (error) {
    return refused(null, [], error);
  }
  try {
    return users.actAs(actor, as);
  } catch (error) {
    return refused(actor.name, as === undefined ? [] : [as], error);
  }
}

export interface Visit {
  readonly authorization: string | undefined;
  /** Whom the owner comes as. */
  readonly as: string | undefined;
  /** Whether this is the door that only the owner can open. */
  readonly ownersDoor: boolean;
}

/** Asked of the kernel when it is needed, by the descriptor that Node keeps to itself. */
export function peerOfSocket(socket: Socket | undefined): Peer | null {
  const fd = (socket as { readonly _handle?: { readonly fd?: number } } | undefined)?._handle?.fd;
  if (fd === undefined || fd < 0) return null;
  const { uid, pid } = peerOf(fd);
  uidMap ??= readIdMap('uid');
  return { uid: outsideId(uidMap, uid) ?? uid, pid };
}

/** Where we are root in a user namespace only, people have other numbers than outside. */
let uidMap: readonly IdMapping[] | undefined;

export function auditStream(
  audit: Audit,
  actor: Actor,
  { after = 0, follow = false }: { readonly after?: number | undefined; readonly follow?: boolean | undefined },
  context: HonoContext,
): Response {
  const abort = new AbortController();
  return streamSSE(context, async (sse) => {
    sse.onAbort(() => abort.abort());
    for await (const entry of audit.read({ after, follow, signal: abort.signal })) {
      if (maySee(actor, entry)) await sse.writeSSE({ id: String(entry.seq), data: JSON.stringify(entry) });
    }
  });
}

/** What others do is for the owner to know. */
function maySee({ name, isOwner }: Actor, { user }: Entry): boolean {
  return isOwner || user === name;
}
