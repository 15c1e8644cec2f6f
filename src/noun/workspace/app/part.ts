/** The working copy of a sandbox, and the folder on the host that has all of its data. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Threads } from '../../../kernel/job/threads.ts';
import type { Kernel } from '../../../kernel/kernel.ts';
import type { Store } from '../../../kernel/store/store.ts';
import { removeTree } from '../../../lib/file/file.ts';
import type { Sandbox, SandboxSpec } from '../../sandbox/model.ts';
import type { SandboxPart, Unapplied } from '../../sandbox/part/part.ts';
import { finishDiscard } from '../change/discard.ts';
import { foldIndex } from '../change/overlay/fold-index.ts';
import { hasIndex } from '../change/overlay/index-layer.ts';
import { isUnwritten } from '../change/overlay/unwritten.ts';
import { workspacePlace } from '../launch.ts';
import { ensureDisk, openDisk, removeDisk } from '../snapshot/disk.ts';
import { recoverRestore } from '../snapshot/snapshot.ts';
import type { WorkspacePlace } from '../workspace.ts';
import type { BaseWatch } from './base-watch.ts';

export interface WorkspacePartParts extends Pick<Kernel, 'home' | 'store' | 'locks'> {
  readonly threads: Pick<Threads, 'run' | 'cancel'>;
  readonly watch: Pick<BaseWatch, 'keep'>;
  /** The work in a sandbox that was not applied or fetched; the caller has opened its folder. */
  readonly unappliedIn: (sandbox: Sandbox) => Promise<Unapplied | null>;
  /** Forgets applies whose sandboxes are all gone; the sandbox `going` counts as gone. */
  readonly forgetApplies: (going: string) => Promise<void>;
}

export interface WorkspaceFolders {
  unapplied(sandbox: Sandbox): Promise<Unapplied | null>;
  /** Opens the folder of a sandbox and restores its state, whatever a crash or another daemon left of it. */
  openFolder(id: string): Promise<void>;
}

/** The folder of a sandbox, with its disk limit. Comes before the parts that write into the folder. */
export function diskPart(parts: Pick<WorkspacePartParts, 'home' | 'locks'>): SandboxPart {
  const { home } = parts;
  return {
    prepare: async ({ id, spec }, _places, enforces) => {
      await openFolder(parts, id);
      mkdirSync(home.state(id), { recursive: true, mode: 0o711 });
      if (!spec.demanded.includes('diskBytes')) return;
      const { kind } = await ensureDisk(home.sandbox(id), spec.limits.diskBytes);
      if (kind === 'enforced') enforces('diskBytes');
    },
  };
}

export function workspacePart(parts: WorkspacePartParts): SandboxPart & WorkspaceFolders {
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
    prepare: (sandbox) => prepareCopy(sandbox, parts),
    conclude: async (sandbox, keep) => {
      if (await mustKeep(sandbox, parts)) keep();
    },
    release: async ({ id, spec }) => {
      const { home, locks, threads } = parts;
      threads.cancel(id);
      await locks.run(`base:${spec.base?.id ?? id}`, async () => {
        await removeDisk(home.sandbox(id));
        await removeTree(home.sandbox(id));
        if (spec.base && !isShared(parts, id, spec)) await removeTree(home.base(spec.base.id));
      });
      await parts.forgetApplies(id);
    },
  };
}

async function prepareCopy(sandbox: Sandbox, { home, threads, locks, watch }: WorkspacePartParts): Promise<void> {
  const place = workspacePlace(sandbox, home);
  if (place === null) return;
  const owner = { user: sandbox.spec.user };
  await prepareBase(sandbox, place, threads);
  await locks.run(sandbox.id, async () => {
    // Only with an index this is slow, so that goes to a thread.
    if (hasIndex(place)) await threads.run(owner, 'foldIndex', place);
    else foldIndex(place);
  });
  // Records what the owner changed until now, before the agent can change anything.
  if (existsSync(join(place.folder, 'upper'))) await watch.keep(sandbox);
  if (place.kind === 'copy') await threads.run(owner, 'copyTree', place.base, join(place.folder, 'tree'));
}

async function prepareBase(
  { name, spec }: Sandbox,
  place: WorkspacePlace,
  threads: WorkspacePartParts['threads'],
): Promise<void> {
  if (spec.base?.from === 'copy') await threads.run({ user: spec.user }, 'copyTree', place.project, place.base);
  if (spec.base?.from === 'clone')
    await threads.run({ user: spec.user }, 'cloneRepository', place.project, place.base, `carrel/${name}`);
}

/** Whether work of a sandbox with `autoRemove` was not applied. A sandbox that is being removed is not examined. */
async function mustKeep(sandbox: Sandbox, parts: WorkspacePartParts): Promise<boolean> {
  const { id, spec } = sandbox;
  if (spec.desired === 'removed') return false;
  await openFolder(parts, id);
  const place = workspacePlace(sandbox, parts.home);
  if (place === null || isUnwritten(place)) return false;
  await parts.watch.keep(sandbox);
  return spec.autoRemove && (await parts.unappliedIn(sandbox)) !== null;
}

/** Waits for other work on the folder: a snapshot that is being taken looks like one that was never finished. */
function openFolder({ home, locks }: Pick<WorkspacePartParts, 'home' | 'locks'>, id: string): Promise<void> {
  return locks.run(id, async () => {
    const folder = home.sandbox(id);
    if (!existsSync(folder)) return;
    await openDisk(folder);
    await recoverRestore(folder);
    finishDiscard(join(home.state(id), 'workspace'));
  });
}

/** Whether the sandbox is gone or about to be removed. */
function isLeaving(store: Store, id: string): boolean {
  const row = store.get('sandbox', id);
  return row === null || row.value.spec.desired === 'removed';
}

/**
 * Whether a fork, or the sandbox that it was forked from, still uses the same base. If several are removed at once, the
 * last one removes the base.
 */
function isShared({ store, home }: WorkspacePartParts, id: string, { base }: SandboxSpec): boolean {
  const others = store.list('sandbox').filter((row) => row.id !== id && row.value.spec.base?.id === base?.id);
  return others.some((row) => existsSync(home.sandbox(row.id)));
}
