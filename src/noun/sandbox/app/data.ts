/** The data of sandboxes on the host: prepared before a start, checked at an end, removed with the sandbox. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { LogLimits } from '../../../kernel/engine/engine.ts';
import type { Home } from '../../../kernel/home/home.ts';
import type { Threads } from '../../../kernel/job/threads.ts';
import type { Store } from '../../../kernel/store/store.ts';
import { removeTree } from '../../../lib/file/file.ts';
import type { Exclusive } from '../../../lib/flow/exclusive.ts';
import { asFault, type Fault } from '../../../model/fault.ts';
import type { Limits } from '../../../model/limits.ts';
import type { Networks } from '../../network/app/networks.ts';
import type { SandboxSecrets, Secrets } from '../../user/secret/secret.ts';
import type { BaseWatch } from '../../workspace/app/base-watch.ts';
import type { Unapplied } from '../../workspace/app/unapplied.ts';
import { finishDiscard } from '../../workspace/change/discard.ts';
import { foldIndex } from '../../workspace/change/fold-index.ts';
import { hasIndex } from '../../workspace/change/index-layer.ts';
import { isUnwritten } from '../../workspace/change/unwritten.ts';
import { workspacePlace } from '../../workspace/launch.ts';
import { ensureDisk, openDisk, removeDisk } from '../../workspace/snapshot/disk.ts';
import { recoverRestore } from '../../workspace/snapshot/snapshot.ts';
import type { WorkspacePlace } from '../../workspace/workspace.ts';
import type { Sandbox, SandboxSpec } from '../model.ts';
import type { SandboxData } from '../reconcile/reconcile.ts';
import { EarlierOutput } from './earlier-output.ts';
import { isLeaving } from './record.ts';

export interface DataParts {
  readonly home: Home;
  readonly store: Store;
  readonly threads: Pick<Threads, 'run' | 'cancel'>;
  readonly watch: Pick<BaseWatch, 'keep'>;
  readonly locks: Exclusive;
  readonly log: LogLimits;
  readonly secrets: Secrets;
  readonly sandboxSecrets: SandboxSecrets;
  /** Makes missing volumes of the sandbox, and records that its volumes are used. */
  readonly useVolumes: (sandbox: Sandbox) => void;
  readonly nouns: readonly NounData[];
  /** Writes the list of MCP servers that its agents get. */
  readonly agentServers: { provide(sandbox: Sandbox): void };
  /** Writes the certificates that the sandbox trusts for the hosts of its credentials. */
  readonly provideTrust: (sandbox: Sandbox) => void;
  readonly networks: Pick<Networks, 'connect' | 'disconnect'>;
  /** The work in a sandbox that was not applied or fetched; the caller has opened its folder. */
  readonly unappliedIn: (sandbox: Sandbox) => Promise<Unapplied | null>;
  /** Forgets applies whose sandboxes are all gone; the sandbox `going` counts as gone. */
  readonly forgetApplies: (going: string) => Promise<void>;
  readonly report: (id: string, fault: Fault) => void;
}

/** What a noun does before each start of a sandbox, at its end, and when it is removed. Each is idempotent. */
export interface NounData {
  provide?(sandbox: Sandbox): Promise<void>;
  conclude?(sandbox: Sandbox): Promise<void>;
  release?(sandbox: Sandbox): Promise<void>;
}

export interface KeptData extends SandboxData {
  unapplied(sandbox: Sandbox): Promise<Unapplied | null>;
  /** Opens the folder of a sandbox and restores its state, whatever a crash or another daemon left of it. */
  openFolder(id: string): Promise<void>;
}

export function sandboxData(parts: DataParts): KeptData {
  const { home, locks } = parts;
  return {
    openFolder: (id) => openFolder(parts, id),
    unapplied: async (sandbox) => {
      try {
        await openFolder(parts, sandbox.id);
        return await parts.unappliedIn(sandbox);
      } catch (error) {
        // A sandbox that is removed at the same time vanishes while it is read; then nothing is left to lose.
        if (isLeaving(parts.store, sandbox.id)) return null;
        throw error;
      }
    },
    provide: async (sandbox) => {
      parts.useVolumes(sandbox);
      putSecrets(sandbox, parts);
      parts.provideTrust(sandbox);
      for (const noun of parts.nouns) await noun.provide?.(sandbox);
      const held = await provideState(sandbox, parts);
      parts.agentServers.provide(sandbox);
      const place = workspacePlace(sandbox, home);
      if (place === null) return held;
      await provideBase(sandbox, place, parts.threads);
      await parts.locks.run(sandbox.id, async () => {
        // Only with an index this is slow, so that goes to a thread.
        if (hasIndex(place)) await parts.threads.run({ user: sandbox.spec.user }, 'foldIndex', place);
        else foldIndex(place);
      });
      // Records what the owner changed until now, before the agent can change anything.
      if (existsSync(join(place.folder, 'upper'))) await parts.watch.keep(sandbox);
      if (place.kind === 'copy')
        await parts.threads.run({ user: sandbox.spec.user }, 'copyTree', place.base, join(place.folder, 'tree'));
      return held;
    },
    connect: (sandbox, init) => parts.networks.connect(sandbox, init),
    conclude: (sandbox) =>
      conclude(sandbox, parts).catch((error: unknown) => {
        parts.report(sandbox.id, asFault(error));
        return sandbox.spec.autoRemove;
      }),
    keepOutput: (sandbox, lines) =>
      new EarlierOutput(home.sandbox(sandbox.id), parts.log)
        .keep(sandbox.status.attempt, lines)
        .catch((error: unknown) => parts.report(sandbox.id, asFault(error))),
    release: async (sandbox) => {
      const { id, spec } = sandbox;
      parts.threads.cancel(id);
      await parts.networks.disconnect(id);
      if (spec.secrets?.length) parts.sandboxSecrets.remove(id);
      await locks.run(`base:${spec.base?.id ?? id}`, async () => {
        await removeDisk(home.sandbox(id));
        await removeTree(home.sandbox(id));
        if (spec.base && !isShared(parts, id, spec)) await removeTree(home.base(spec.base.id));
      });
      await parts.forgetApplies(id);
      for (const noun of parts.nouns) await noun.release?.(sandbox);
    },
  };
}

/**
 * True: the sandbox is kept in spite of `autoRemove`, because some of its work was not applied. An error is only
 * reported and keeps it, too. A sandbox that is being removed is not examined.
 */
async function conclude(sandbox: Sandbox, parts: DataParts): Promise<boolean> {
  const { id, spec } = sandbox;
  await parts.networks.disconnect(id);
  for (const noun of parts.nouns) await noun.conclude?.(sandbox);
  if (spec.secrets?.length) parts.sandboxSecrets.remove(id);
  if (spec.desired === 'removed') return false;
  await openFolder(parts, id);
  const place = workspacePlace(sandbox, parts.home);
  if (place === null || isUnwritten(place)) return false;
  await parts.watch.keep(sandbox);
  return spec.autoRemove && (await parts.unappliedIn(sandbox)) !== null;
}

/** Returns the limits that are enforced: the disk limit, if it was asked for and can be enforced. */
async function provideState({ id, spec }: Sandbox, parts: DataParts): Promise<(keyof Limits)[]> {
  const { home } = parts;
  await openFolder(parts, id);
  mkdirSync(home.state(id), { recursive: true, mode: 0o711 });
  if (!spec.demanded.includes('diskBytes')) return [];
  const { kind } = await ensureDisk(home.sandbox(id), spec.limits.diskBytes);
  return kind === 'enforced' ? ['diskBytes'] : [];
}

function putSecrets({ id, spec }: Sandbox, { secrets, sandboxSecrets }: DataParts): void {
  if (!spec.secrets?.length) return;
  const values = spec.secrets.map((name) => ({ name, value: secrets.read(spec.user, name) }));
  sandboxSecrets.put(id, values);
}

/** Waits for other work on the folder: a snapshot that is being taken looks like one that was never finished. */
function openFolder({ home, locks }: Pick<DataParts, 'home' | 'locks'>, id: string): Promise<void> {
  return locks.run(id, async () => {
    const folder = home.sandbox(id);
    if (!existsSync(folder)) return;
    await openDisk(folder);
    await recoverRestore(folder);
    finishDiscard(join(home.state(id), 'workspace'));
  });
}

async function provideBase(
  { name, spec }: Sandbox,
  place: WorkspacePlace,
  threads: DataParts['threads'],
): Promise<void> {
  if (spec.base?.from === 'copy') await threads.run({ user: spec.user }, 'copyTree', place.project, place.base);
  if (spec.base?.from === 'clone')
    await threads.run({ user: spec.user }, 'cloneRepository', place.project, place.base, `carrel/${name}`);
}

/**
 * Whether a fork, or the sandbox that it was forked from, still uses the same base. If several are removed at once, the
 * last one removes the base.
 */
function isShared({ store, home }: DataParts, id: string, { base }: SandboxSpec): boolean {
  const others = store.list('sandbox').filter((row) => row.id !== id && row.value.spec.base?.id === base?.id);
  return others.some((row) => existsSync(home.sandbox(row.id)));
}
