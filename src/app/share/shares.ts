/** The shares of one user: added, listed, and given to sandboxes. */
import { randomBytes, randomInt } from 'node:crypto';
import { lstatSync } from 'node:fs';
import type { SandboxRequest } from '../../api/sandbox.ts';
import type { AddShareRequest, ShareView } from '../../api/share.ts';
import type { ProbeRow } from '../../engine/engine.ts';
import { crashPoint } from '../../lib/crash-point.ts';
import { isInside } from '../../lib/host-path.ts';
import { asFault, Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';
import { type Sandbox, withSpec } from '../../model/sandbox.ts';
import {
  type Consumer,
  checkConsumerRequest,
  checkTarget,
  consumerText,
  defaultTarget,
  isOutside,
  type Share,
  type ShareMount,
  type ShareRequest,
  sandboxOf,
} from '../../model/share.ts';
import { type Actor, requireOwner } from '../../model/user.ts';
import { shareFolder } from '../../share/folder.ts';
import type { FolderRules } from '../../share/share.ts';
import type { Row, Store } from '../../store/store.ts';
import { uidOf } from './account.ts';
import { grantAccess } from './grants.ts';
import type { Observer } from './observe.ts';
import { findShare, type ShareRow } from './record.ts';

export interface ShareParts {
  readonly store: Store;
  readonly now: () => string;
  readonly report: (subject: string, fault: Fault) => void;
  /** Which folders this user may share. */
  readonly rules: () => Omit<FolderRules, 'shares'>;
  /** The first of the ids of groups for shares of this user, as the host has them. */
  readonly firstGroupId: () => number;
  readonly observer: Observer;
}

const maxPerUser = 100;
/** How many ids of groups there are for shares of a user. */
export const groupIds = 1000;

export class Shares {
  readonly #parts: ShareParts;
  readonly #actor: Actor;

  constructor(actor: Actor, parts: ShareParts) {
    this.#actor = actor;
    this.#parts = parts;
  }

  /** Gives every user's sandboxes and consumers what an earlier daemon had recorded and not given yet. */
  recover(): void {
    const { store, report } = this.#parts;
    for (const row of store.list('share')) {
      try {
        if (!row.value.revoking) this.#give(row);
      } catch (error) {
        report(`share ${row.name}`, asFault(error));
      }
    }
  }

  find(name: string): Share {
    return this.#row(name).value;
  }

  async list(): Promise<ShareView[]> {
    return Promise.all(this.#rows().map((row) => this.#parts.observer.view(row)));
  }

  /** What `carrel doctor` says of all shares. */
  async examine(): Promise<ProbeRow[]> {
    const { store, observer } = this.#parts;
    return store.list('share').flatMap(({ name, value }) => {
      const warnings = observer.warnings(value);
      if (warnings.length === 0) return [];
      const hint = `See: carrel share ls; or: carrel share revoke ${name}`;
      return [{ name: `share ${name}`, level: 'warning' as const, detail: warnings.join('; '), hint }];
    });
  }

  async add(request: AddShareRequest): Promise<ShareView> {
    const consumers = await Promise.all(
      request.consumers.map((one) => this.#consumer(checkConsumerRequest(one), request)),
    );
    const known = this.#parts.store.find('share', this.#actor.name, request.name);
    const row = known === null ? this.#insert(request, consumers) : this.#extend(known, request, consumers);
    crashPoint('share:recorded');
    this.#give(row);
    return this.#parts.observer.view(row);
  }

  async #consumer(asked: AddShareRequest['consumers'][number], { folder }: AddShareRequest): Promise<Consumer> {
    const { kind, name, path, readonly } = asked;
    if (!isOutside(asked)) return { kind, name, path: checkTarget(path!), readonly, uid: null };
    requireOwner(this.#actor);
    return { kind, name, path: path ?? folder, readonly, uid: await uidOf(asked) };
  }

  #insert(request: AddShareRequest, consumers: readonly Consumer[]): ShareRow {
    const { store, now } = this.#parts;
    if (this.#rows().length >= maxPerUser) throw new Fault('exhausted', `there are ${maxPerUser} shares already`);
    const { name } = request;
    const found = this.#folder(request);
    const at = now();
    const value: Share = {
      name,
      ...found,
      groupId: this.#freeGroup(),
      consumers: placed(consumers, found.folder),
      createdAt: at,
    };
    this.#checkGiven(value);
    const event = { at, type: 'share.added', subject: name, data: { name, user: this.#actor.name } };
    return store.insert(
      { kind: 'share', id: randomBytes(8).toString('hex'), owner: this.#actor.name, name, value },
      event,
    );
  }

  #extend(row: ShareRow, request: AddShareRequest, added: readonly Consumer[]): ShareRow {
    const { store, now } = this.#parts;
    if (row.value.revoking) throw isRevoking(row.name);
    const { folder } = this.#folder(request, row);
    if (folder !== row.value.folder) throw isTaken(row.value);
    const fresh = placed(added, folder);
    const kept = row.value.consumers.filter((one) => !fresh.some((other) => consumerText(other) === consumerText(one)));
    const value = { ...row.value, consumers: [...kept, ...fresh] };
    this.#checkGiven(value);
    const event = { at: now(), type: 'share.changed', subject: row.name, data: { name: row.name, user: row.owner } };
    return store.update(row, value, event);
  }

  #folder(request: AddShareRequest, own?: ShareRow): ReturnType<typeof shareFolder> {
    const { store, rules } = this.#parts;
    const others = store.list('share').filter(({ id }) => id !== own?.id);
    const shares = others.map(({ owner, value: { name, folder } }) => ({
      name: owner === this.#actor.name ? name : 'of another user',
      folder,
    }));
    const found = shareFolder(request.folder, { ...rules(), shares });
    const { dev, ino } = lstatSync(found.folder, { bigint: true });
    if (request.seen === undefined || request.seen === `${dev}:${ino}`) return found;
    throw new Fault('conflict', `${printable(request.folder)} is another folder for the daemon than for you`, {
      hint: 'A filesystem was mounted since the daemon started: carrel down, and again. Sandboxes go on meanwhile.',
    });
  }

  /** Refuses before anything is recorded what the mounts of an existing sandbox leave no room for. */
  #checkGiven(share: Share): void {
    for (const { value } of this.#consumersOf({ owner: this.#actor.name, value: share }))
      for (const mount of this.#mountsFor({ id: '', value: share }, value.name))
        refuseOverlap(mount.target, targetsOf(value.spec, share.name));
  }

  /** Repeat-safe. */
  #give(row: ShareRow): void {
    grantAccess(row.value, []);
    crashPoint('share:granted');
    for (const sandbox of this.#consumersOf(row)) this.#putIn(sandbox, row);
  }

  #putIn(sandbox: Row<'sandbox'>, row: ShareRow): void {
    const { store, now } = this.#parts;
    const [mount] = this.#mountsFor(row, sandbox.name);
    const { shares = [] } = sandbox.value.spec;
    const old = shares.find(({ id }) => id === row.id);
    if (!mount || (old?.target === mount.target && old.readonly === mount.readonly)) return;
    const value = withSpec(sandbox.value, { shares: [...shares.filter(({ id }) => id !== row.id), mount] });
    const data = { name: sandbox.name, user: row.owner, share: row.name };
    store.update(sandbox, value, { at: now(), type: 'sandbox.shared', subject: sandbox.id, data });
    crashPoint('share:given');
  }

  /** Existing sandboxes that the share names. */
  #consumersOf({ owner, value }: Pick<ShareRow, 'owner' | 'value'>): Row<'sandbox'>[] {
    const names = value.consumers.flatMap((one) => sandboxOf(one) ?? []);
    return names.flatMap((name) => this.#parts.store.find('sandbox', owner, name) ?? []);
  }

  #mountsFor({ id, value }: Pick<ShareRow, 'id' | 'value'>, sandbox: string): ShareMount[] {
    const { name, folder, identity, consumers } = value;
    const asked = consumers.filter((one) => sandboxOf(one) === sandbox);
    return asked.map(({ path: target, readonly }) => ({ id, name, folder, identity, target, readonly }));
  }

  /** What a new sandbox gets: what it asks for, and the shares that name it. */
  mounts({ name, shares: asked = [], volumes = [] }: SandboxRequest): ShareMount[] {
    const wanted = asked.map((request) => this.#asked(request, name));
    const named = this.#rows().flatMap((row) =>
      name === undefined || row.value.revoking || asked.some(({ share }) => share === row.name)
        ? []
        : this.#mountsFor(row, name),
    );
    const all = [...wanted, ...named];
    const taken = volumes.map(({ target }) => target);
    all.forEach(({ target }, at) => {
      refuseOverlap(target, [...taken, ...all.slice(0, at).map((other) => other.target)]);
    });
    return all;
  }

  #asked({ share, target, readonly }: ShareRequest, sandbox: string | undefined): ShareMount {
    const { id, value } = this.#row(share);
    if (value.revoking) throw isRevoking(share);
    const declared = sandbox === undefined ? undefined : this.#mountsFor({ id, value }, sandbox)[0];
    const { name, folder, identity } = value;
    return {
      ...{ id, name, folder, identity },
      target: checkTarget(target ?? declared?.target ?? defaultTarget(name)),
      readonly: readonly ?? declared?.readonly ?? false,
    };
  }

  /** Refuses to record a sandbox with a share that was revoked since its spec was made. */
  require({ shares = [] }: Sandbox['spec']): void {
    for (const { id, name } of shares) {
      const row = this.#parts.store.get('share', id);
      if (row === null || row.value.revoking) throw isRevoking(name);
    }
  }

  #rows(): readonly ShareRow[] {
    return this.#parts.store.list('share', this.#actor.name);
  }

  #row(name: string): ShareRow {
    return findShare(this.#parts.store, this.#actor.name, name);
  }

  /** Not that of a share that exists, nor of one that was just revoked: at random. */
  #freeGroup(): number {
    const first = this.#parts.firstGroupId();
    const taken = this.#parts.store.list('share').map(({ value }) => value.groupId);
    for (;;) {
      const id = first + randomInt(groupIds);
      if (!taken.includes(id)) return id;
    }
  }
}

/** People see the folder itself. */
function placed(consumers: readonly Consumer[], folder: string): Consumer[] {
  return consumers.map((one) => (one.kind === 'person' ? { ...one, path: folder } : one));
}

function targetsOf({ volumes = [], shares = [] }: Sandbox['spec'], except: string): string[] {
  return [...volumes, ...shares.filter(({ name }) => name !== except)].map(({ target }) => target);
}

/** A share in a folder that agents can write could not be taken away safely. */
function refuseOverlap(target: string, taken: readonly string[]): void {
  const other = taken.find((one) => isInside(one, target) || isInside(target, one));
  if (other === undefined) return;
  throw new Fault(
    'invalid',
    `a share cannot be at ${printable(target)}: ${printable(other)} is mounted there or around it`,
    {
      hint: 'Choose a path of its own: --share NAME:PATH',
    },
  );
}

function isTaken({ name, folder }: Share): Fault {
  return new Fault('conflict', `the share ${name} is ${printable(folder)}`, {
    hint: `Choose another name, or first: carrel share revoke ${name}`,
  });
}

function isRevoking(name: string): Fault {
  return new Fault('conflict', `the share ${name} is being revoked`, { hint: 'See: carrel share ls' });
}
