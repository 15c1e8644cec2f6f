/**
 * Who may come in. A user other than the owner of the installation shows a token; what is kept of it is a hash, so that
 * nobody who reads the store can come as somebody else. A token is random and long enough that a plain hash is safe.
 */
import { createHash, randomBytes } from 'node:crypto';
import { Fault } from '../model/fault.ts';
import type { User } from '../model/user.ts';

const tokenBytes = 32;
const pattern = /^carrel_[A-Za-z0-9_-]{43}$/;

export function newToken(): { readonly token: string; readonly hash: string } {
  const token = `carrel_${randomBytes(tokenBytes).toString('base64url')}`;
  return { token, hash: hashOf(token) };
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** The token of a request; null when it shows none. */
export function tokenOf(authorization: string | undefined): string | null {
  if (authorization === undefined) return null;
  const token = /^Bearer (\S+)$/.exec(authorization)?.[1];
  if (!token || !pattern.test(token)) throw unknownToken();
  return token;
}

/** The user a token was made for. Compared by hash, so the time it takes tells nothing of the token. */
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

/** The next number that nobody ever had. */
export function nextSlot(users: readonly User[]): number {
  return Math.max(-1, ...users.map(({ slot }) => slot)) + 1;
}
