/** Who makes a request. */
import { actAsHeader } from '../api/api.ts';
import { endWith } from '../app/route.ts';
import type { Users } from '../app/user/users.ts';
import type { Audit, Peer } from '../audit/audit.ts';
import type { Actor } from '../model/user.ts';

export interface Visit {
  readonly authorization: string | undefined;
  /** The user that the owner acts as. */
  readonly as: string | undefined;
  /** Over the socket that only the owner can open. */
  readonly isOwners: boolean;
}

export function visitOf(headers: Headers, isOwners: boolean): Visit {
  const as = headers.get(actAsHeader) ?? undefined;
  return { authorization: headers.get('authorization') ?? undefined, as, isOwners };
}

/** A refusal has its line in the audit log, too. */
export function admit(
  { audit, users }: { readonly audit: Audit; readonly users: Users },
  visit: Visit,
  peer: Peer | null,
): Actor {
  const { authorization, as, isOwners } = visit;
  const refused = (user: string | null, names: readonly string[], error: unknown): never => {
    const targets = names.map((name) => ({ name }));
    endWith(audit.begin({ user, as: null, verb: 'access', targets, peer }, true), error);
    throw error;
  };
  let actor: Actor;
  try {
    actor = users.actor(authorization, isOwners);
  } catch (error) {
    return refused(null, [], error);
  }
  try {
    return users.actAs(actor, as);
  } catch (error) {
    return refused(actor.name, as === undefined ? [] : [as], error);
  }
}
