/** The shares of one user: added and listed. */
import { randomBytes, randomInt } from 'node:crypto';
import { lstatSync } from 'node:fs';
import type { ProbeRow } from '../../../kernel/engine/engine.ts';
import type { Kernel } from '../../../kernel/kernel.ts';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { asFault, Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import { type Actor, requireOwner } from '../../../model/user.ts';
import type { AddShareRequest, ShareView } from '../api.ts';
import { type FolderRules, shareFolder } from '../folder.ts';
import { type Consumer, checkConsumerRequest, checkTarget, consumerText, isOutside, type Share } from '../model.ts';
import { uidOf } from './account.ts';
import { checkGrants, grantAccess } from './grants.ts';
import { firstGroupId, groupIds } from './group-ids.ts';
import type { Observer } from './observe.ts';
import { findShare, isRevoking, type ShareRow } from './record.ts';
import type { SandboxShares } from './sandbox-shares.ts';

export interface ShareParts extends Pick<Kernel, 'store' | 'now'> {
  readonly report: (subject: string, fault: Fault) => void;
  /** Which folders this user may share. */
  readonly rules: () => Omit<FolderRules, 'shares'>;
  readonly observer: Observer;
  readonly sandboxShares: SandboxShares;
}

const maxPerUser = 100;

export class Shares {
  readonly #parts: ShareParts;
  readonly #actor: Actor;

  constructor(actor: Actor, parts: ShareParts) {
    this.#actor = actor;
    this.#parts = parts;
  }

  /** Gives the sandboxes and consumers of all users the access that an earlier daemon recorded but did not give. */
  async recover(): Promise<void> {
    const { store, report } = this.#parts;
    for (const row of store.list('share').filter(({ value }) => !value.revoking))
      await this.#grant(row).catch((error: unknown) => report(`share ${row.name}`, asFault(error)));
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
    const late = await this.#giveOrUndo(row, known);
    const view = await this.#parts.observer.view(row);
    return { ...view, warnings: [...view.warnings, ...late] };
  }

  async #consumer(request: AddShareRequest['consumers'][number], { folder }: AddShareRequest): Promise<Consumer> {
    const { kind, name, path, readonly } = request;
    if (!isOutside(request)) return { kind, name, path: checkTarget(path!), readonly, uid: null };
    requireOwner(this.#actor);
    return { kind, name, path: path ?? folder, readonly, uid: await uidOf(request) };
  }

  #insert(request: AddShareRequest, consumers: readonly Consumer[]): ShareRow {
    const { store, now } = this.#parts;
    if (this.#rows().length >= maxPerUser)
      throw new Fault('exhausted', `there are ${maxPerUser} shares already`, {
        hint: 'Remove one with: carrel share revoke NAME',
      });
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
    checkGrants(value);
    this.#parts.sandboxShares.check(this.#actor.name, value);
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
    for (const one of fresh) refuseOtherUid(row.value, one);
    const kept = row.value.consumers.filter((one) => !fresh.some((other) => consumerText(other) === consumerText(one)));
    const value = { ...row.value, consumers: [...kept, ...fresh] };
    checkGrants(value);
    this.#parts.sandboxShares.check(this.#actor.name, value);
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

  /** If the access cannot be granted, the share is restored as it was. */
  async #giveOrUndo(row: ShareRow, before: ShareRow | null): Promise<string[]> {
    const { store, now } = this.#parts;
    try {
      return await this.#grant(row);
    } catch (error) {
      const event = { at: now(), type: 'share.changed', subject: row.name, data: { name: row.name, user: row.owner } };
      if (before === null) store.remove(row, { ...event, type: 'share.revoked' });
      else store.update(row, before.value, event);
      throw error;
    }
  }

  /** Idempotent. */
  async #grant(row: ShareRow): Promise<string[]> {
    grantAccess(row.value);
    crashPoint('share:granted');
    return this.#parts.sandboxShares.grant(row);
  }

  #rows(): readonly ShareRow[] {
    return this.#parts.store.list('share', this.#actor.name);
  }

  #row(name: string): ShareRow {
    return findShare(this.#parts.store, this.#actor.name, name);
  }

  /** Not the id of an existing share. It is random, so that it is hardly that of a share that was just revoked. */
  #freeGroup(): number {
    const { store } = this.#parts;
    const first = firstGroupId(store.find('user', '', this.#actor.name)?.value.slot ?? 0);
    const taken = store.list('share').map(({ value }) => value.groupId);
    for (;;) {
      const id = first + randomInt(groupIds);
      if (!taken.includes(id)) return id;
    }
  }
}

/** People see the folder at its own path. */
function placed(consumers: readonly Consumer[], folder: string): Consumer[] {
  return consumers.map((one) => (one.kind === 'person' ? { ...one, path: folder } : one));
}

/** Refuses another uid, because the ACL would keep the entry of the old one. */
function refuseOtherUid({ name, consumers }: Share, fresh: Consumer): void {
  const known = consumers.find((one) => consumerText(one) === consumerText(fresh));
  if (known === undefined || known.uid === fresh.uid) return;
  const text = consumerText(fresh);
  throw new Fault('conflict', `${text} is a consumer of ${name} with another uid`, {
    hint: `First: carrel share revoke ${name} ${text}`,
  });
}

function isTaken({ name, folder }: Share): Fault {
  return new Fault('conflict', `the share ${name} is ${printable(folder)}`, {
    hint: `Choose another name, or first: carrel share revoke ${name}`,
  });
}
