/**
 * Users and their tokens.
 *
 * Life cycle of a user: added, with a token that is shown once → active → the token is replaced, any number of times →
 * removed. The record of a removed user stays, because the number of a user selects a range of host ids and is never
 * given to another one. A token is valid until it is replaced or its user is removed.
 *
 * A user other than the owner of the installation sends a token; the store has its hash, so that a reader of the store
 * cannot use it. A token is random and long enough that a plain hash is safe. A token that is not known, of a removed
 * user too, is refused with `unauthenticated`; the error does not tell these cases apart.
 */
import { createHash, randomBytes } from 'node:crypto';
import { Fault } from '../../model/fault.ts';
import type { User } from '../../model/user.ts';

const tokenBytes = 32;
const pattern = /^carrel_[A-Za-z0-9_-]{43}$/;

export function newToken(): { readonly token: string; readonly hash: string } {
  const token = `carrel_${randomBytes(tokenBytes).toString('base64url')}`;
  return { token, hash: hashOf(token) };
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** The token of a request; null: it has none. */
export function tokenOf(authorization: string | undefined): string | null {
  if (authorization === undefined) return null;
  const token = /^Bearer (\S+)$/.exec(authorization)?.[1];
  if (!token || !pattern.test(token)) throw unknownToken();
  return token;
}

/** The user a token was made for. Hashes are compared, so that the time taken reveals nothing about the token. */
export function userOf(token: string, users: readonly User[]): User {
  const hash = hashOf(token);
  const user = users.find(({ tokenHash, removedAt }) => tokenHash === hash && !removedAt);
  if (!user) throw unknownToken();
  return user;
}

function unknownToken(): Fault {
  return new Fault('unauthenticated', 'this token is not known here', {
    hint: 'Ask the owner of the installation for a new one: carrel user token NAME',
  });
}

/** A number that no user ever had. */
export function nextSlot(users: readonly User[]): number {
  return Math.max(-1, ...users.map(({ slot }) => slot)) + 1;
}
