/** The users of an installation: its owner, and the users whom the owner adds. */

import { identityOf, rootSpace } from '../../../kernel/engine/local/ids.ts';
import type { Kernel } from '../../../kernel/kernel.ts';
import type { Row } from '../../../kernel/store/store.ts';
import { Fault } from '../../../model/fault.ts';
import { type Actor, checkUserName, type User } from '../../../model/user.ts';
import type { Admission, UserView } from '../api.ts';
import { newToken, nextSlot, tokenOf, userOf } from '../user.ts';

export interface UserParts extends Pick<Kernel, 'store' | 'rootless' | 'now'> {
  readonly owner: string;
  /** The socket for users with a token; null: there is none. */
  readonly sharedSocket: string | null;
  /** Closes what is open for a user who was removed. */
  readonly release: (user: string) => Promise<void>;
}

const maxUsers = 4000;

export class Users {
  readonly #parts: UserParts;

  constructor(parts: UserParts) {
    this.#parts = parts;
  }

  /** A request without a token is the owner's if it came over the socket that only the owner can open. */
  actor(authorization: string | undefined, isOwnersSocket: boolean): Actor {
    const token = tokenOf(authorization);
    if (token !== null) return this.actorOf(userOf(token, this.#all()).name);
    if (isOwnersSocket) return this.actorOf(this.#parts.owner);
    throw new Fault('unauthenticated', 'a token is needed here', {
      hint: 'Put the token you were given into a file and name it in CARREL_TOKEN_FILE.',
    });
  }

  /** Only the owner can act as another user. */
  actAs(actor: Actor, name: string | undefined): Actor {
    if (name === undefined || name === actor.name) return actor;
    if (!actor.isOwner || !this.find(name)) throw noUser(name);
    return { ...this.actorOf(name), by: actor.name };
  }

  actorOf(name: string): Actor {
    return { name, isOwner: name === this.#parts.owner };
  }

  /**
   * The account whose folders a user may use. Without root, agents act on folders as the account of the daemon, so
   * others have none.
   */
  accountOf({ name, isOwner }: Actor): number | null | 'any' {
    if (isOwner) return 'any';
    return this.#parts.rootless ? null : (this.find(name)?.uid ?? null);
  }

  #all(): User[] {
    return this.#parts.store.list('user').map(({ value }) => value);
  }

  find(name: string): User | null {
    const user = this.#parts.store.find('user', '', name)?.value;
    return user && !user.removedAt ? user : null;
  }

  list(actor: Actor): UserView[] {
    const mine = this.#all().filter(({ name, removedAt }) => !removedAt && (actor.isOwner || name === actor.name));
    return mine.map((user) => this.#view(user));
  }

  /** The token is shown only now. A user that was removed and is added again gets the same range of ids. */
  add(requestedName: string, uid: number | null): Admission {
    const { store, now } = this.#parts;
    const name = checkUserName(requestedName);
    if (this.find(name)) {
      throw new Fault('conflict', `a user ${name} exists already`, {
        hint: `For a new token: carrel user token ${name}`,
      });
    }
    const { token, hash } = newToken();
    const before = store.find('user', '', name);
    if (!before && store.count('user') >= maxUsers) {
      throw new Fault('exhausted', `there are ${maxUsers} users already`, {
        hint: 'Remove one with: carrel user rm NAME',
      });
    }
    const slot = before?.value.slot ?? nextSlot(this.#all());
    const value: User = { name, slot, createdAt: now(), uid, tokenHash: hash, removedAt: null };
    const event = { at: now(), type: 'user.added', subject: name, data: { name, user: name } };
    if (before) store.update(before, value, event);
    else store.insert({ kind: 'user', id: name, owner: '', name, value }, event);
    return { user: this.#view(value), token, socket: this.#parts.sharedSocket };
  }

  /** The old token is refused from now on; nothing else of the user changes. */
  renewToken(actor: Actor, name: string): Admission {
    const { store, owner, now, sharedSocket } = this.#parts;
    if (!actor.isOwner && name !== actor.name) throw noUser(name);
    if (name === owner) {
      throw new Fault('conflict', `${name} owns this installation and needs no token`, {
        hint: 'Another user is let in with: carrel user add NAME',
      });
    }
    const row = this.#row(name);
    const { token, hash } = newToken();
    const event = { at: now(), type: 'user.token_renewed', subject: name, data: { name, user: name } };
    store.update(row, { ...row.value, tokenHash: hash }, event);
    return { user: this.#view(row.value), token, socket: sharedSocket };
  }

  /** Refused while the user has sandboxes. The other data of the user is kept in case the user is added again. */
  async remove(name: string): Promise<UserView> {
    const { store, owner, now, release } = this.#parts;
    const row = this.#row(name);
    if (name === owner) throw new Fault('conflict', `${name} owns this installation, so it cannot be removed`);
    const left = this.#sandboxesOf(name);
    if (left > 0) {
      throw new Fault('conflict', `${name} still has ${left} sandbox${left === 1 ? '' : 'es'}`, {
        hint: `See them with: carrel ls --all-users — remove them with: carrel --user ${name} rm --force NAME…`,
      });
    }
    const event = { at: now(), type: 'user.removed', subject: name, data: { name, user: name } };
    store.update(row, { ...row.value, tokenHash: null, removedAt: now() }, event);
    await release(name);
    return this.#view(row.value);
  }

  #row(name: string): Row<'user'> {
    const row = this.#parts.store.find('user', '', name);
    if (!row || row.value.removedAt) throw noUser(name);
    return row;
  }

  #sandboxesOf(name: string): number {
    return this.#parts.store.count('sandbox', name);
  }

  #view({ name, slot, createdAt, uid = null }: User): UserView {
    const isOwner = name === this.#parts.owner;
    return { name, slot, createdAt, uid, isOwner, sandboxes: this.#sandboxesOf(name) };
  }
}

/** The host id of `agent` of a user; null: without root all files belong to the account of the daemon. */
export function agentIdOf({ store, rootless }: Pick<UserParts, 'store' | 'rootless'>, user: string): number | null {
  const slot = store.find('user', '', user)?.value.slot;
  return rootless || slot === undefined ? null : identityOf(slot, rootSpace).agentId;
}

function noUser(name: string): Fault {
  return new Fault('not_found', `no user ${checkUserName(name)}`, { hint: 'See: carrel user ls' });
}
