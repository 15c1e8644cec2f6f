import { Fault } from './fault.ts';
import { printable } from './name.ts';

/**
 * An owner of sandboxes, volumes and secrets. `slot` numbers the users of an installation and picks their range of host
 * uids; it is never assigned to another user, so a removed user stays as a record.
 */
export interface User {
  readonly name: string;
  readonly slot: number;
  readonly createdAt: string;
  /** The account on this machine whose folders may be projects of this user; null: none may. */
  readonly uid?: number | null;
  /** The hash of the user's token; null: this user cannot authenticate. */
  readonly tokenHash?: string | null;
  readonly removedAt?: string | null;
}

export const userNamePattern = /^[a-z_][a-z0-9_.-]{0,31}$/;

export function checkUserName(name: string): string {
  if (userNamePattern.test(name)) return name;
  throw new Fault('invalid', `${printable(name)} is not a name for a user`, {
    hint: 'Lower-case letters, digits, ".", "_" and "-", at most 32, beginning with a letter or "_".',
  });
}

/** The author of a request. */
export interface Actor {
  readonly name: string;
  /** The owner of the installation: may see and do everything. */
  readonly isOwner: boolean;
  /** The owner who acts as this user. */
  readonly by?: string;
}

export function requireOwner({ isOwner }: Actor): void {
  if (!isOwner) throw new Fault('denied', 'only the owner of this installation may do that');
}
