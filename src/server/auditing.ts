/** Acts of users on their way into the audit log. */
import { type Act, type Done, endWith, type Route } from '../app/route.ts';
import type { Audit, Act as LoggedAct, OpenAct, Peer, Target } from '../audit/audit.ts';
import { asFault, type Fault } from '../model/fault.ts';
import type { Actor } from '../model/user.ts';
import type { Store } from '../store/store.ts';

export interface Auditing {
  readonly audit: Audit;
  readonly store: Pick<Store, 'find'>;
}

/** What the server itself needs of a scope: no text with the value of a secret gets into the log. */
export interface SecretCheck {
  readonly secrets: { refuseText(where: string, ...texts: readonly string[]): void };
}

/** A request after its parts were checked against the route. */
export interface Asking {
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
 * Calls the handler of a route. The line in the audit log is written before the answer is sent. Where the answer is a stream,
 * the act goes on while it is sent: `openAct` is to be ended then.
 */
export async function audited(
  parts: Auditing,
  route: Route,
  asking: Asking,
  peer: Peer | null,
): Promise<{ readonly answer: object; readonly openAct: OpenAct | null }> {
  const handle = route.handle as (request: Asking) => Promise<object>;
  const act = describe(route, asking);
  if (act === null) return { answer: await handle(asking), openAct: null };
  const refusal = refusalOf(act, asking);
  const openAct = begin(parts, asking.actor, refusal ? { ...act, names: [] } : act, peer);
  try {
    if (refusal) throw refusal;
    const answer = await handle(asking);
    if (typeof route.answer === 'string') return { answer, openAct };
    const { targets, detail } = (route.done as ((answer: object) => Done) | undefined)?.(answer) ?? {};
    openAct.end('ok', { ...(targets ? { targets } : {}), ...(detail ? { detail } : {}) });
    return { answer, openAct: null };
  } catch (error) {
    endWith(openAct, error);
    throw error;
  }
}

/** Checked before anything is logged: names may contain the same text. */
function refusalOf({ words = {} }: Act, { scope }: Asking): Fault | null {
  try {
    for (const [where, texts] of Object.entries(words))
      scope.secrets.refuseText(where, ...texts.filter((text) => text !== undefined));
    return null;
  } catch (error) {
    return asFault(error);
  }
}

/** For a stream: its handler says when the act is done. */
export function beginAct(parts: Auditing, route: Route, asking: Asking, peer: Peer | null): OpenAct {
  return begin(parts, asking.actor, describe(route, asking)!, peer);
}

function describe({ act }: Route, asking: Asking): Act | null {
  return (act as ((asked: Asking) => Act | null) | null)?.(asking) ?? null;
}

/** Details are logged only of what was done. */
function begin({ audit, store }: Auditing, actor: Actor, act: Act, peer: Peer | null): OpenAct {
  const openAct = audit.begin(logged(store, actor, act, peer), act.frees);
  return {
    end: (outcome, found = {}) =>
      openAct.end(outcome, outcome === 'ok' ? { ...found, detail: { ...act.detail, ...found.detail } } : found),
  };
}

function logged(store: Auditing['store'], actor: Actor, { verb, names, as }: Act, peer: Peer | null): LoggedAct {
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

/** A name can be used again by another sandbox; an id cannot. */
function sandboxTarget(store: Auditing['store'], owner: string, name: string): Target {
  const id = store.find('sandbox', owner, name)?.id;
  return id === undefined ? { name } : { name, id };
}
