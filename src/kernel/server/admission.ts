/** Authenticates the user who makes a request. */
import { actAsHeader } from '../../lib/wire/api.ts';
import type { Actor } from '../../model/user.ts';
import type { Audit, Peer } from '../audit/audit.ts';
import { endWith } from './route.ts';

export interface CallerCredentials {
  readonly authorization: string | undefined;
  /** The user that the owner acts as. */
  readonly as: string | undefined;
  /** The request came over the socket that only the owner can open. */
  readonly isOwners: boolean;
}

export interface Accounts {
  /** Who has this token. A request without one is the owner's if it came over the owner's socket. */
  actor(authorization: string | undefined, isOwners: boolean): Actor;
  actAs(actor: Actor, name: string | undefined): Actor;
}

export function credentialsIn(headers: Headers, isOwners: boolean): CallerCredentials {
  const as = headers.get(actAsHeader) ?? undefined;
  return { authorization: headers.get('authorization') ?? undefined, as, isOwners };
}

/** Returns the actor. A refusal is also recorded in the audit log. */
export function admit(
  { audit, users }: { readonly audit: Audit; readonly users: Accounts },
  credentials: CallerCredentials,
  peer: Peer | null,
): Actor {
  const { authorization, as, isOwners } = credentials;
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
