/**
 * The tokens of all users: made over the socket, checked at the port of the hub. A token is valid while its record exists; the record has what
 * the token grants, never the token. Records of expired tokens are removed when the user makes the next one.
 */
import { randomBytes } from 'node:crypto';
import type { Audit } from '../../../kernel/audit/audit.ts';
import type { Kernel } from '../../../kernel/kernel.ts';
import { endWith } from '../../../kernel/server/route.ts';
import type { TokenKeys } from '../../../kernel/server/token-keys.ts';
import type { Row } from '../../../kernel/store/store.ts';
import { Fault } from '../../../model/fault.ts';
import type { User } from '../../../model/user.ts';
import type { NewToken, TokenRequest, TokenView } from '../api.ts';
import { checkHubTokenId, defaultGroups, defaultTokenSeconds, type HubToken } from '../model/token.ts';
import type { Authentication, ClientIdentity, AuthenticationRequest as Presented } from '../token/authentication.ts';
import { challengeOf, metadata, presentedToken } from '../token/resource-server.ts';
import { refused, signToken, TokenReader } from '../token/token.ts';

export interface TokenParts extends Pick<Kernel, 'store' | 'now'> {
  readonly keys: TokenKeys;
  readonly installation: string;
  readonly audit: Pick<Audit, 'begin'>;
  readonly users: { find(name: string): User | null };
}

const maxPerUser = 1000;
/** The time of the last use is written at most this often. */
const noteMs = 10 * 60_000;

export class HubTokens implements Authentication {
  readonly #parts: TokenParts;
  readonly #reader: TokenReader;
  /** Ids of tokens and when each was last used. */
  readonly #used = new Map<string, string>();
  onRevoked = () => {};

  constructor(parts: TokenParts) {
    this.#parts = parts;
    this.#reader = new TokenReader(parts.keys, parts.installation);
  }

  /** The caller has checked that the projects exist. */
  async create(user: string, request: TokenRequest): Promise<NewToken> {
    const { store, keys, installation, now } = this.#parts;
    this.#removeExpired(user);
    if (store.count('hubToken', user) >= maxPerUser) throw tooMany();
    const value = recordOf(request, now());
    const grant = {
      ...{ id: value.id, user, projects: value.projects, groups: value.groups },
      ...{ issuedAtSeconds: seconds(value.createdAt), expiresAtSeconds: seconds(value.expiresAt) },
    };
    const token = await signToken(grant, keys.ensure(user), installation);
    store.insert(
      { kind: 'hubToken', id: value.id, owner: user, name: value.id, value },
      this.#event('created', user, value),
    );
    return { token, ...viewOf(value) };
  }

  list(user: string): TokenView[] {
    const rows = this.#parts.store.list('hubToken', user);
    return rows.map(({ value }) => viewOf({ ...value, usedAt: this.#used.get(value.id) ?? value.usedAt }));
  }

  /** Ends open sessions with this token, too. */
  remove(user: string, id: string): TokenView {
    const row = this.#parts.store.find('hubToken', user, checkHubTokenId(id));
    if (row === null) throw new Fault('not_found', `no token ${id}`, { hint: 'See: carrel hub token ls' });
    this.#remove(row);
    this.onRevoked();
    return viewOf(row.value);
  }

  /** Removes the key first, so that after a crash in between no token is valid any more. */
  removeAll(user: string): TokenView[] {
    const { store, keys } = this.#parts;
    keys.remove(user);
    const rows = store.list('hubToken', user);
    for (const row of rows) this.#remove(row);
    this.onRevoked();
    return rows.map(({ value }) => viewOf(value));
  }

  /** Writes a line to the audit log if the token is refused. */
  async authenticate(request: Presented): Promise<ClientIdentity> {
    const token = presentedToken(request);
    try {
      return await this.#identify(token);
    } catch (error) {
      endWith(this.#parts.audit.begin({ user: null, as: null, verb: 'access', targets: [], peer: null }, true), error);
      throw error;
    }
  }

  async #identify(token: string): Promise<ClientIdentity> {
    const { id, user } = await this.#reader.read(token, new Date(this.#parts.now()));
    const { projects, groups } = this.#valid(user, id);
    return { user, caller: { name: id, projects, groups }, check: () => void this.#valid(user, id) };
  }

  challenge(fault: Fault, origin: string): string | null {
    return challengeOf(fault, origin);
  }

  document(path: string, origin: string): object | null {
    return metadata(path, origin);
  }

  /** A user who was removed and added again has to make new tokens. */
  #valid(user: string, id: string): HubToken {
    const { store, users, now } = this.#parts;
    const row = store.find('hubToken', user, id);
    const account = users.find(user);
    if (row === null || account === null || account.createdAt > row.value.createdAt) throw refused('it was revoked');
    if (row.value.expiresAt <= now()) throw refused('it has expired');
    this.#note(row);
    return row.value;
  }

  /** The record gets the time of the last use at most every `noteMs`: it is not worth a write for each call. */
  #note(row: Row<'hubToken'>): void {
    const { store, now } = this.#parts;
    const at = now();
    this.#used.set(row.id, at);
    const before = row.value.usedAt;
    if (before !== null && Date.parse(at) - Date.parse(before) < noteMs) return;
    const value = { ...row.value, usedAt: at };
    store.update(row, value, this.#event('used', row.owner, value), { lazy: true });
  }

  #removeExpired(user: string): void {
    const at = this.#parts.now();
    for (const row of this.#parts.store.list('hubToken', user)) if (row.value.expiresAt <= at) this.#remove(row);
  }

  #remove(row: Row<'hubToken'>): void {
    this.#parts.store.remove(row, this.#event('removed', row.owner, row.value));
    this.#used.delete(row.id);
  }

  #event(verb: string, user: string, { id }: HubToken) {
    return { at: this.#parts.now(), type: `token.${verb}`, subject: id, data: { id, user } };
  }
}

function recordOf(
  { projects, groups = [...defaultGroups], expiresSeconds = defaultTokenSeconds }: TokenRequest,
  at: string,
): HubToken {
  return {
    id: randomBytes(8).toString('hex'),
    projects: projects === '*' ? projects : [...new Set(projects)],
    groups: [...new Set(groups)],
    createdAt: at,
    expiresAt: new Date(Date.parse(at) + expiresSeconds * 1000).toISOString(),
    usedAt: null,
  };
}

function viewOf({ projects, groups, ...rest }: HubToken): TokenView {
  return { ...rest, projects: projects === '*' ? projects : [...projects], groups: [...groups] };
}

function seconds(at: string): number {
  return Math.floor(Date.parse(at) / 1000);
}

function tooMany(): Fault {
  return new Fault('exhausted', `there are ${maxPerUser} tokens already`, {
    hint: 'Revoke some: carrel hub token rm ID',
  });
}
