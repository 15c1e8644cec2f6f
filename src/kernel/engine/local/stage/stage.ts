/**
 * The stage: the folder in which the daemon puts the mounts of a sandbox together. The runtime enters the sandbox's
 * user namespace before it mounts anything, so it cannot reach sources below folders that only their owner may enter.
 * The stage is a tmpfs in the daemon's mount namespace, over a folder that is not needed there: each source is bound
 * into it while the sandbox is created, and then detached. A sandbox keeps its mounts, and neither the host's mount
 * table nor the daemon's grows with the number of sandboxes.
 */
import { closeSync, existsSync, mkdirSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readIfThere } from '../../../../lib/file/file.ts';
import { bindMount, detachMount, inMountNamespaceOf, mount, mountFlags } from '../../../../lib/sys/sys-mount.ts';
import { Fault } from '../../../../model/fault.ts';
import type { Mount } from '../../../../model/mount.ts';
import type { Root } from '../../engine.ts';
import { hiddenHierarchy } from '../cgroup.ts';
import { type LocalIdentity, readIdSpace } from '../ids.ts';
import type { SpecMount } from '../runtime/spec.ts';
import { innerMounts, nestMounts, outerMounts, withTrees } from './nested.ts';
import { fillSkeleton, hostProgramMounts } from './root.ts';
import { bindSource, type Owners, openSource, overlaySource } from './source.ts';

type TmpfsMount = Extract<Mount, { kind: 'tmpfs' }>;

/**
 * Folders that exist only as mount points. If another folder of /sys is covered, the kernel does not let a user
 * namespace mount a fresh sysfs.
 */
const stageFolders = [
  '/sys/fs/bpf',
  '/sys/fs/pstore',
  '/sys/fs/fuse/connections',
  '/sys/kernel/debug',
  '/sys/kernel/tracing',
  '/sys/kernel/config',
  '/sys/kernel/security',
];
const stageFolder = stageFolders.find((folder) => existsSync(folder)) ?? stageFolders[0]!;

export interface StagedRoot {
  readonly rootPath: string;
  /** The mounts for the runtime. */
  readonly mounts: readonly SpecMount[];
  /**
   * Attaches the other mounts in the namespace of a sandbox that was created and has not begun. Null: there are none.
   */
  readonly nest: ((pid: number) => void) | null;
  /** Detaches the mounts from the daemon's mount table. A sandbox that was created keeps its mounts. */
  release(): void;
}

export interface StageInput extends Omit<Owners, 'agent'> {
  readonly id: string;
  readonly hostname: string;
  readonly root: Root;
  readonly mounts: readonly Mount[];
  readonly identity: LocalIdentity;
  readonly rootless: boolean;
}

let opened = false;

/** Called once per process, in its private mount namespace. */
export function openStage(): void {
  if (opened) return;
  refuseHostNamespace(mountNamespaces());
  opened = true;
  if (existsSync(join('/sys/fs/cgroup', hiddenHierarchy))) {
    mount(
      'carrel-hidden',
      join('/sys/fs/cgroup', hiddenHierarchy),
      'tmpfs',
      mountFlags.nosuid | mountFlags.nodev,
      'mode=0700',
    );
  }
  mount('carrel-stage', stageFolder, 'tmpfs', mountFlags.nosuid | mountFlags.nodev, 'mode=0711,size=16m');
}

/**
 * Throws in the host's mount namespace, where mounts would be visible and stay. The host's namespace is that of the
 * first process. If it cannot be read, because the first process has more privileges, root needs an ancestor in another
 * namespace. An ordinary user cannot mount in the host's namespace at all.
 */
export function refuseHostNamespace({ own, first, ancestors, rootless }: MountNamespaces): void {
  const cameFromElsewhere = ancestors.some((one) => one !== null && one !== own);
  const isOther = first === null ? rootless || cameFromElsewhere : own !== first;
  if (own !== null && isOther) return;
  throw new Fault('internal', 'the embedded engine needs its own mount namespace', {
    hint: 'Start the daemon with: carrel up',
  });
}

/** Null: the namespace cannot be read. */
interface MountNamespaces {
  readonly own: string | null;
  readonly first: string | null;
  readonly ancestors: readonly (string | null)[];
  readonly rootless: boolean;
}

function mountNamespaces(): MountNamespaces {
  const ancestors: number[] = [];
  for (let pid = process.ppid; pid > 1; pid = parentOf(pid)) ancestors.push(pid);
  return {
    own: mountNamespace('self'),
    first: mountNamespace(1),
    ancestors: ancestors.map(mountNamespace),
    rootless: readIdSpace().rootless,
  };
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)$/m.exec(readIfThere(`/proc/${pid}/status`) ?? '')?.[1] ?? 0);
}

function mountNamespace(pid: number | 'self'): string | null {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`);
  } catch {
    return null;
  }
}

/** runc requires that the folder it once started from exists, though it does not use the content. */
export function keepRootFolder(id: string): void {
  mkdirSync(join(stageFolder, id, 'root'), { recursive: true });
}

export function dropRootFolder(id: string): void {
  rmSync(join(stageFolder, id), { recursive: true, force: true });
}

export async function stage(input: StageInput): Promise<StagedRoot> {
  const { folder, release } = setStage(input.id);
  try {
    const mounts = input.root.kind === 'host' ? [...hostProgramMounts(), ...input.mounts] : input.mounts;
    const outer = outerMounts(mounts);
    const isTop = (_: unknown, index: number) => outer[index] === null;
    const rootPath = makeRoot(folder, input, mounts.filter(isTop));
    const specMounts: SpecMount[] = [];
    const agent = { uid: input.identity.agentId, gid: input.identity.agentId };
    const staging = { ...input, agent };
    for (const [index, one] of mounts.entries()) specMounts.push(await stageMount(folder, index, one, staging));
    const inner = innerMounts(outer);
    const root = (index: number) => mounts[index]!.target;
    const nest = (pid: number) =>
      withTrees(
        inner,
        (index) => join(folder, String(index)),
        (tree) => inMountNamespaceOf(pid, () => nestMounts({ mounts, outer, root, tree, agent })),
      );
    return { rootPath, mounts: specMounts.filter(isTop), nest: inner.length === 0 ? null : nest, release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Makes a new empty folder on the stage. */
export function setStage(name: string): { readonly folder: string; readonly release: () => void } {
  const folder = join(stageFolder, name);
  const release = () => void detachMount(folder);
  release();
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  mount('carrel', folder, 'tmpfs', mountFlags.nosuid | mountFlags.nodev, 'mode=0711,size=4m,nr_inodes=4096');
  return { folder, release };
}

function makeRoot(folder: string, input: StageInput, mounts: readonly Mount[]): string {
  const { root, hostname, identity } = input;
  const skeleton = join(folder, 'root');
  mkdirSync(skeleton, { mode: 0o755 });
  fillSkeleton(skeleton, { hostname, mounts, ownerId: identity.rootId, hostPrograms: root.kind === 'host' });
  if (root.kind === 'host') return skeleton;
  if (root.kind === 'image') throw noImages(root.reference);
  const merged = join(folder, 'merged');
  const base = join(folder, 'base');
  mkdirSync(merged);
  mkdirSync(base);
  bindFolder(root.path, base);
  mount('overlay', merged, 'overlay', mountFlags.readonly, `lowerdir=${skeleton}:${base}`);
  return merged;
}

function noImages(reference: string): Fault {
  return new Fault('unsupported', `the embedded engine has no image ${reference}`, {
    hint: 'Use --engine docker, or give its files with --rootfs.',
  });
}

function bindFolder(source: string, target: string): void {
  const fd = openSource(source);
  try {
    bindMount(fd, target, { readonly: true, ownersFd: null });
  } finally {
    closeSync(fd);
  }
}

type Staging = StageInput & Owners;

async function stageMount(folder: string, index: number, one: Mount, input: Staging): Promise<SpecMount> {
  if (one.kind === 'tmpfs') return tmpfsMount(one);
  const source = join(folder, String(index));
  if (one.kind === 'bind') await bindSource(one, source, input);
  else await overlaySource(one, source, input);
  const access = one.kind === 'bind' && one.readonly ? 'ro' : 'rw';
  return { destination: one.target, type: 'bind', source, options: ['rbind', access, 'nosuid', 'nodev', 'rprivate'] };
}

function tmpfsMount(one: TmpfsMount): SpecMount {
  const options = ['nosuid', 'nodev', `mode=${one.mode.toString(8)}`, `size=${one.sizeBytes}`];
  return { destination: one.target, type: 'tmpfs', source: 'tmpfs', options };
}
