/** Which shares a sandbox gets: those that it is created with, and those that name it. */

import type { Kernel } from '../../../kernel/kernel.ts';
import type { Row } from '../../../kernel/store/store.ts';
import { isInside } from '../../../lib/file/host-path.ts';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { asFault, Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import { hasEnded, type Sandbox, type SandboxSpec, withSpec } from '../../sandbox/model.ts';
import type { Reconciler } from '../../sandbox/reconcile/reconcile.ts';
import { checkTarget, defaultTarget, type Share, type ShareMount, type ShareRequest } from '../model.ts';
import type { SandboxShareRequest, ShareGrants } from '../share.ts';
import { consumerOf, keyOf, type SandboxKey } from './consumer-sandboxes.ts';
import { findShare, isRevoking, type ShareRow } from './record.ts';

export interface SandboxSharesParts extends Pick<Kernel, 'store' | 'now'> {
  readonly reconciler: Pick<Reconciler, 'alone'>;
  /** Whether an existing sandbox can get a share: its files stay the agent's own. */
  readonly canAdd: (sandbox: Sandbox) => boolean;
  /**
   * Mounts a share in a sandbox that runs without it. Fails if that needs a start. The caller holds the sandbox by
   * `alone`.
   */
  readonly mountNow: (sandbox: Sandbox, mount: ShareMount) => Promise<void>;
}

export class SandboxShares implements ShareGrants {
  readonly #parts: SandboxSharesParts;

  constructor(parts: SandboxSharesParts) {
    this.#parts = parts;
  }

  /** Refuses a share that an existing sandbox cannot get, before anything is recorded. */
  check(owner: string, value: Share): void {
    for (const row of this.#named(owner, value))
      this.#checkOne(row.value, this.#mountFor({ id: '', owner, value }, keyOf(row))!);
  }

  #checkOne(sandbox: Sandbox, mount: ShareMount): void {
    const { volumes = [], shares = [] } = sandbox.spec;
    if (!this.#parts.canAdd(sandbox)) throw cannotAdd(sandbox.name, mount.name);
    const others = shares.filter(({ name }) => name !== mount.name);
    refuseOverlap(
      mount.target,
      [...volumes, ...others].map(({ target }) => target),
    );
    const old = shares.find(({ name }) => name === mount.name);
    if (old && !isSame(old, mount) && isLive(sandbox)) throw cannotMove(sandbox.name, mount.name);
  }

  /** Idempotent. Returns which running sandboxes get it only at their next start, and why. */
  async grant(row: ShareRow): Promise<string[]> {
    const late: (string | null)[] = [];
    // Under the lock of the sandbox, so that its spec does not change during a start.
    for (const { id } of this.#named(row.owner, row.value))
      late.push(await this.#parts.reconciler.alone(id, () => this.#grantOne(id, row)));
    return late.filter((one) => one !== null);
  }

  async #grantOne(sandboxId: string, row: ShareRow): Promise<string | null> {
    const mount = this.#put(sandboxId, row);
    const found = this.#parts.store.get('sandbox', sandboxId);
    if (mount === null || found === null) return null;
    try {
      await this.#parts.mountNow(found.value, mount);
      return null;
    } catch (error) {
      return `${found.name} gets it at its next start: ${asFault(error).message}`;
    }
  }

  /** Null: the sandbox is gone, or the share has changed meanwhile. */
  #put(sandboxId: string, row: ShareRow): ShareMount | null {
    const { store, now } = this.#parts;
    const found = store.get('sandbox', sandboxId);
    const mount = found && this.#mountFor(row, keyOf(found));
    if (!found || !mount || store.get('share', row.id)?.revision !== row.revision) return null;
    const { shares = [] } = found.value.spec;
    if (shares.some((one) => isSame(one, mount))) return mount;
    this.#checkOne(found.value, mount);
    const value = withSpec(found.value, { shares: [...shares.filter(({ id }) => id !== row.id), mount] });
    const data = { name: found.name, user: row.owner, share: row.name };
    store.update(found, value, { at: now(), type: 'sandbox.shared', subject: found.id, data });
    crashPoint('share:given');
    return mount;
  }

  /** Existing sandboxes that the share names. */
  #named(owner: string, { consumers }: Share): Row<'sandbox'>[] {
    const { store } = this.#parts;
    return store.list('sandbox', owner).filter((row) => consumerOf(store, owner, consumers, keyOf(row)) !== null);
  }

  mounts(owner: string, request: SandboxShareRequest, project: string | null): ShareMount[] {
    const { shares: requests = [], volumes = [] } = request;
    const sandbox = { name: request.name, project };
    const wanted = requests.map((one) => this.#requested(owner, one, sandbox));
    const rows = this.#parts.store.list('share', owner).filter(({ value }) => !value.revoking);
    const others = rows.filter((row) => !requests.some(({ share }) => share === row.name));
    const all = [...wanted, ...others.flatMap((row) => this.#mountFor(row, sandbox) ?? [])];
    const taken = volumes.map(({ target }) => target);
    for (const [at, { target }] of all.entries())
      refuseOverlap(target, [...taken, ...all.slice(0, at).map((other) => other.target)]);
    return all;
  }

  #requested(owner: string, { share, target, readonly }: ShareRequest, sandbox: SandboxKey): ShareMount {
    const { id, value } = findShare(this.#parts.store, owner, share);
    if (value.revoking) throw isRevoking(share);
    const declared = this.#mountFor({ id, owner, value }, sandbox);
    const { name, folder, identity } = value;
    return {
      ...{ id, name, folder, identity },
      target: checkTarget(target ?? declared?.target ?? defaultTarget(name)),
      readonly: readonly ?? declared?.readonly ?? false,
    };
  }

  /** Null: the share names neither the sandbox nor its project. */
  #mountFor({ id, owner, value }: Pick<ShareRow, 'id' | 'owner' | 'value'>, sandbox: SandboxKey): ShareMount | null {
    const { name, folder, identity, consumers } = value;
    const found = consumerOf(this.#parts.store, owner, consumers, sandbox);
    return found && { id, name, folder, identity, target: found.path, readonly: found.readonly };
  }

  require({ shares = [] }: Pick<SandboxSpec, 'shares'>): void {
    for (const { id, name } of shares) {
      const row = this.#parts.store.get('share', id);
      if (row === null || row.value.revoking) throw isRevoking(name);
    }
  }
}

function isSame(one: ShareMount, other: ShareMount): boolean {
  return one.name === other.name && one.target === other.target && one.readonly === other.readonly;
}

/** Whether the sandbox runs, or is about to. */
function isLive({ spec, status }: Sandbox): boolean {
  return !hasEnded(status) || spec.attempt !== status.attempt;
}

/** A share in a folder that agents can write could not be taken away safely. */
function refuseOverlap(target: string, taken: readonly string[]): void {
  const other = taken.find((one) => isInside(one, target) || isInside(target, one));
  if (other === undefined) return;
  const message = `a share cannot be at ${printable(target)}: ${printable(other)} is mounted there or around it`;
  throw new Fault('invalid', message, { hint: 'Choose a path of its own: --share NAME:PATH' });
}

/** Without root, `agent` would get another id, and would not own its existing files any more. */
function cannotAdd(sandbox: string, share: string): Fault {
  const message = `without root, ${sandbox} cannot get a share later: it was created without a folder of the host`;
  return new Fault('unsupported', message, { hint: `Create a sandbox with it: carrel create --share ${share}` });
}

function cannotMove(sandbox: string, share: string): Fault {
  return new Fault('conflict', `${sandbox} runs with ${share} at another path or with other access`, {
    hint: `First: carrel share revoke ${share} ${sandbox}, or carrel stop ${sandbox}`,
  });
}
