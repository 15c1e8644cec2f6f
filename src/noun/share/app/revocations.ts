/**
 * Taking a share from its consumers.
 *
 * A revocation is recorded first, then carried out consumer by consumer, and recorded as done. The next daemon finishes one that was cut
 * short. From a running sandbox the mount is taken at once, with no process left that could use it; a sandbox with open files
 * of the share keeps it, and the revocation of that consumer is refused, unless `force` stops the sandbox. Sandboxes of a project that lost it
 * before one of them refused get it back.
 */
import { setImmediate } from 'node:timers/promises';
import type { Kernel } from '../../../kernel/kernel.ts';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { Exclusive } from '../../../lib/flow/exclusive.ts';
import { asFault, Fault } from '../../../model/fault.ts';
import { type Sandbox, withoutShares, withSpec } from '../../sandbox/model.ts';
import type { Reconciler } from '../../sandbox/reconcile/reconcile.ts';
import type { RevokeView } from '../api.ts';
import {
  type Consumer,
  consumerText,
  isOutside,
  parseConsumer,
  type Revoking,
  type Share,
  type ShareMount,
} from '../model.ts';
import { unmountShare, usersOf } from '../mounted.ts';
import { takeAccess } from './grants.ts';
import type { Observer } from './observe.ts';
import { findShare, noConsumer, type ShareRow } from './record.ts';
import type { SandboxShares } from './sandbox-shares.ts';

export interface RevocationParts extends Pick<Kernel, 'store' | 'now'> {
  readonly user: string;
  readonly observer: Observer;
  readonly sandboxShares: Pick<SandboxShares, 'grant'>;
  readonly reconciler: Pick<Reconciler, 'alone' | 'settle'>;
  readonly report: (subject: string, fault: Fault) => void;
}

interface Outcome {
  readonly revoked: string[];
  readonly stopped: string[];
  readonly notes: string[];
  readonly refusals: Fault[];
}

export class Revocations {
  readonly #parts: RevocationParts;
  /** One revocation of a share at a time. */
  readonly #locks = new Exclusive();

  constructor(parts: RevocationParts) {
    this.#parts = parts;
  }

  /** Finishes the revocations of all users that an earlier daemon began. */
  async recover(): Promise<void> {
    const { store, report } = this.#parts;
    for (const { id, name, value } of store.list('share')) {
      if (!value.revoking) continue;
      await this.#locks
        .run(id, () => this.#carryOut(id, value.revoking!))
        .catch((error: unknown) => report(`share ${name}`, asFault(error)));
    }
  }

  async revoke(
    name: string,
    request: { consumer?: string | undefined; force?: boolean | undefined },
  ): Promise<RevokeView> {
    const { store, user } = this.#parts;
    const { id } = findShare(store, user, name);
    const consumer = request.consumer === undefined ? null : consumerText(parseConsumer(request.consumer));
    const { refusals, ...view } = await this.#locks.run(id, () =>
      this.#begin(name, { consumer, force: request.force ?? false }),
    );
    if (refusals.length > 0) throw refusals.length === 1 ? refusals[0]! : several(name, refusals);
    return { name, ...view };
  }

  async #begin(name: string, revoking: Revoking): Promise<Outcome> {
    const { store, user, observer } = this.#parts;
    const row = findShare(store, user, name);
    const known = observer.consumers(row).map(consumerText);
    if (revoking.consumer !== null && !known.includes(revoking.consumer))
      throw noConsumer(name, revoking.consumer, known);
    this.#update(row, { ...row.value, revoking }, 'share.revoking');
    crashPoint('revoke:recorded');
    return this.#carryOut(row.id, revoking);
  }

  /** Repeats until no such consumer is left, because a fork or a new sandbox may get the share meanwhile. */
  async #carryOut(id: string, revoking: Revoking): Promise<Outcome> {
    const { store, observer } = this.#parts;
    const outcome: Outcome = { revoked: [], stopped: [], notes: [], refusals: [] };
    const refused = new Set<string>();
    for (;;) {
      const row = store.get('share', id);
      if (row === null) return outcome;
      const next = observer.consumers(row).find((one) => isConcerned(one, revoking) && !refused.has(consumerText(one)));
      if (next === undefined) {
        this.#conclude(row, revoking, refused.size > 0);
        if (refused.size > 0) await this.#giveBack(id);
        return outcome;
      }
      await this.#take(row, next, revoking.force, outcome).catch((error: unknown) => {
        refused.add(consumerText(next));
        outcome.refusals.push(asFault(error));
      });
    }
  }

  #conclude(row: ShareRow, { consumer }: Revoking, wasRefused: boolean): void {
    const { store, now } = this.#parts;
    if (consumer !== null || wasRefused) this.#update(row, { ...row.value, revoking: null }, 'share.changed');
    else
      store.remove(row, {
        at: now(),
        type: 'share.revoked',
        subject: row.name,
        data: { name: row.name, user: row.owner },
      });
    crashPoint('revoke:concluded');
  }

  async #giveBack(id: string): Promise<void> {
    const { store, sandboxShares, report } = this.#parts;
    const row = store.get('share', id);
    if (row === null) return;
    try {
      for (const late of await sandboxShares.grant(row)) report(`share ${row.name}`, new Fault('unavailable', late));
    } catch (error) {
      report(`share ${row.name}`, asFault(error));
    }
  }

  async #take(row: ShareRow, consumer: Consumer, force: boolean, outcome: Outcome): Promise<void> {
    if (isOutside(consumer)) outcome.notes.push(this.#takeOutside(row.value, consumer));
    else await this.#takeSandbox(row, consumer, force, outcome);
    this.#forget(row.id, consumer);
    outcome.revoked.push(consumerText(consumer));
    crashPoint('revoke:forgotten');
  }

  /** Removes the consumer's entry from the ACL: the folder is then closed to it, whatever it has mounted. */
  #takeOutside(share: Share, consumer: Consumer): string {
    const consumers = share.consumers.filter((one) => one !== consumer && consumerText(one) !== consumerText(consumer));
    const isDone = takeAccess({ ...share, consumers }, consumer);
    crashPoint('revoke:denied');
    return isDone
      ? leftToDo(share, consumer)
      : `${share.folder} is not the folder that was shared; a copy elsewhere keeps its ACL`;
  }

  async #takeSandbox(row: ShareRow, consumer: Consumer, force: boolean, { stopped }: Outcome): Promise<void> {
    const { observer, reconciler } = this.#parts;
    for (const { id, name } of observer.sandboxes(row, consumer)) {
      const isStopped = await reconciler.alone(id, () => this.#takeMount(row, id, consumer, force));
      if (!isStopped) continue;
      await reconciler.settle(id);
      stopped.push(name);
    }
  }

  /** True: the sandbox has to be stopped. */
  async #takeMount(row: ShareRow, sandboxId: string, consumer: Consumer, force: boolean): Promise<boolean> {
    const found = this.#parts.store.get('sandbox', sandboxId);
    const mount = found?.value.spec.shares?.find(({ id }) => id === row.id);
    if (!found || !mount) return false;
    const refusal = await this.#detach(found.value, mount, consumer);
    crashPoint('revoke:detached');
    if (refusal !== null && !force) throw refusal;
    this.#change(row, sandboxId, refusal !== null);
    crashPoint('revoke:removed');
    return refusal !== null;
  }

  /** Why the sandbox still has the mount; null: it does not have it. */
  async #detach(sandbox: Sandbox, { name, target }: ShareMount, consumer: Consumer): Promise<Fault | null> {
    const hint = `Stop the sandbox and take it: carrel share revoke ${name} ${consumerText(consumer).replace(/^sandbox:/, '')} --force`;
    try {
      const pid = await this.#parts.observer.runningPid(sandbox);
      if (pid === null || (await isTaken(pid, target))) return null;
      return inUse(sandbox.name, name, usersOf(pid, target), hint);
    } catch (error) {
      const { message } = asFault(error);
      return new Fault('conflict', `${name} cannot be taken from ${sandbox.name} while it runs: ${message}`, {
        hint,
        cause: error,
      });
    }
  }

  /** One write, so that a sandbox that has to stop does not start with the share again. */
  #change({ id, name }: ShareRow, sandboxId: string, stops: boolean): void {
    const { store, now } = this.#parts;
    const found = store.get('sandbox', sandboxId);
    if (found === null) return;
    const stop = { desired: 'stopped', graceMs: 0, stopReason: `share ${name} was revoked` } as const;
    const data = { name: found.name, user: found.owner, share: name };
    const value = withSpec(found.value, {
      ...withoutShares(found.value.spec, (one) => one.id === id),
      ...(stops && found.value.spec.desired === 'running' ? stop : {}),
    });
    store.update(found, value, { at: now(), type: 'sandbox.unshared', subject: found.id, data });
  }

  #forget(id: string, consumer: Consumer): void {
    const row = this.#parts.store.get('share', id);
    if (row === null) return;
    const consumers = row.value.consumers.filter((one) => consumerText(one) !== consumerText(consumer));
    if (consumers.length < row.value.consumers.length) this.#update(row, { ...row.value, consumers }, 'share.changed');
  }

  #update(row: ShareRow, value: Share, type: string): void {
    const { store, now } = this.#parts;
    store.update(row, value, { at: now(), type, subject: row.name, data: { name: row.name, user: row.owner } });
  }
}

/**
 * Tries for a while, because a program that opens and closes files all the time uses the mount often, but not always.
 */
async function isTaken(pid: number, target: string): Promise<boolean> {
  const end = performance.now() + tryMs;
  while (unmountShare(pid, target) === 'busy') {
    if (performance.now() > end) return false;
    await setImmediate();
  }
  return true;
}
const tryMs = 250;

function isConcerned(one: Consumer, { consumer }: Revoking): boolean {
  return consumer === null || consumerText(one) === consumer;
}

function leftToDo({ folder }: Share, { kind, name, path, uid }: Consumer): string {
  if (kind === 'person') return `${name} has no access by the share any more; files that ${name} has open stay open`;
  const what = kind === 'docker' ? `the container ${name}` : `the guest ${name}`;
  const root = uid === 0 || kind === 'docker' ? ', and a process that is root on the host is not kept out' : '';
  return `${what} still has ${folder} at ${path} until it is made without that mount; open files stay open${root}`;
}

function inUse(sandbox: string, share: string, users: readonly string[], hint: string): Fault {
  const shown = users.slice(0, 3).join(', ') || 'a process';
  const more = users.length > 3 ? ` and ${users.length - 3} more` : '';
  return new Fault('conflict', `${sandbox} uses ${share}: ${shown}${more} has files of it open`, { hint });
}

function several(name: string, refusals: readonly Fault[]): Fault {
  return new Fault('conflict', refusals.map(({ message }) => message).join('; '), {
    hint: `Stop these sandboxes and take it: carrel share revoke ${name} --force`,
  });
}
