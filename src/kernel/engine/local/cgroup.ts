/**
 * The control groups of one installation: `PARENT/<sandbox id>` in every hierarchy. As root the daemon makes the parent
 * itself; an ordinary user needs a delegated group. The next daemon, wherever it is started, moves into the group of
 * the last daemon, which contains the sandboxes. Without a group, a resource limit enforces the number of processes and
 * the other limits are advisory.
 */
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isErrno, readIfThere } from '../../../lib/file/file.ts';
import { writeInOtherThread } from '../../../lib/wire/write-in-other-thread.ts';
import type { Limits } from '../../../model/limits.ts';
import type { Stats } from '../engine.ts';

export const mountPoint = '/sys/fs/cgroup';
/** The unified half of a hybrid set-up. The daemon covers it with a tmpfs, because crun refuses hybrids. */
export const hiddenHierarchy = 'unified';

export interface Cgroups {
  readonly version: 1 | 2;
  /** The path below the root of each hierarchy; null: no groups can be made. */
  readonly parent: string | null;
  /** The limits that a group enforces. */
  readonly byGroup: readonly (keyof Limits)[];
  /** `byGroup`, and limits that are enforced in other ways. */
  readonly enforced: readonly (keyof Limits)[];
}

/** `note`: the file that remembers the group that was delegated to an ordinary user. */
export function detectCgroups(installation: string, rootless: boolean, note: string): Cgroups {
  const version = existsSync(join(mountPoint, 'cgroup.controllers')) ? 2 : 1;
  const base = rootless ? delegatedBase(version, note) : '/';
  const parent = base === null ? null : join(base, `carrel-${installation}`);
  const byGroup =
    base === null ? [] : limitsOf(version === 2 ? controllersV2(join(mountPoint, base)) : controllersV1());
  return { version, parent, byGroup, enforced: [...new Set<keyof Limits>([...byGroup, 'pids'])] };
}

function controllersV1(): string[] {
  const swap = existsSync(join(mountPoint, 'memory/memory.memsw.limit_in_bytes'));
  return [...readdirSync(mountPoint), ...(swap ? ['swap'] : [])];
}

/** Controllers that can be enabled for child groups. Swap is a part of memory, if the kernel counts it. */
function controllersV2(folder: string): string[] {
  const names = (readIfThere(join(folder, 'cgroup.controllers')) ?? '').trim().split(/\s+/);
  return [...names, ...(names.includes('memory') && existsSync('/proc/swaps') ? ['swap'] : [])];
}

const limitOf: { readonly [controller: string]: keyof Limits } = {
  cpu: 'cpus',
  memory: 'memoryBytes',
  pids: 'pids',
  swap: 'swapBytes',
};

function limitsOf(controllers: readonly string[]): (keyof Limits)[] {
  return controllers.flatMap((name) => limitOf[name] ?? []);
}

const leafName = 'carrel-daemon';

/** The delegated group; null: there is none. In version 1 only real root may move processes of other ids. */
function delegatedBase(version: 1 | 2, note: string): string | null {
  if (version === 1) return null;
  const own = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1] ?? null;
  const candidates = [readIfThere(note), own?.endsWith(`/${leafName}`) ? dirname(own) : own];
  const base = candidates.find((path) => path !== null && canWrite(join(mountPoint, path)) && makeRoom(path)) ?? null;
  if (base !== null) writeFileSync(note, base, { mode: 0o600 });
  return base;
}

function canWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    accessSync(join(folder, 'cgroup.procs'), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * In the unified hierarchy a group with processes cannot enable controllers for its children, so the daemon and the
 * other processes move into a leaf.
 */
function makeRoom(path: string): boolean {
  try {
    const folder = join(mountPoint, path);
    const leaf = join(folder, leafName);
    mkdirSync(leaf, { recursive: true });
    moveInto(leaf, process.pid);
    for (const pid of membersOf(folder)) moveInto(leaf, pid);
    const lent = controllersV2(folder).filter((name) => ['cpu', 'memory', 'pids'].includes(name));
    if (lent.length > 0)
      writeFileSync(join(folder, 'cgroup.subtree_control'), lent.map((name) => `+${name}`).join(' '));
    return true;
  } catch {
    return false;
  }
}

let moving = false;

/**
 * Moving a process into a group waits some milliseconds for the kernel, unless a process was moved just before. So the
 * daemon moves itself to its own group as soon as a runtime is about to move a process, and waits in parallel.
 */
export function expectMove(cgroups: Cgroups): void {
  if (cgroups.parent === null || moving) return;
  const own = /^(?:\d+:(pids):|0::)(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'));
  if (own === null) return;
  moving = true;
  // If that fails, the runtime waits itself, ignoring.
  void writeInOtherThread(join(mountPoint, own[1] ?? '', own[2]!, 'cgroup.procs'), '0').then(() => {
    moving = false;
  });
}

function moveInto(group: string, pid: number): void {
  try {
    writeFileSync(join(group, 'cgroup.procs'), String(pid));
  } catch (error) {
    // It has ended meanwhile, ignoring.
    if (!isErrno(error, 'ESRCH')) throw error;
  }
}

function folders(cgroups: Cgroups, path: string): string[] {
  if (cgroups.version === 2) return [join(mountPoint, path)];
  const controllers = readdirSync(mountPoint).filter((name) => name !== hiddenHierarchy);
  return controllers.map((controller) => join(mountPoint, controller, path));
}

/** Ids with a group, orphans included. */
export function groupIds(cgroups: Cgroups): string[] {
  if (cgroups.parent === null) return [];
  const names = folders(cgroups, cgroups.parent).flatMap(subfolders);
  return [...new Set(names)];
}

export function hasGroup(cgroups: Cgroups, id: string): boolean {
  const { parent } = cgroups;
  return parent !== null && folders(cgroups, join(parent, id)).some((folder) => existsSync(folder));
}

/** Empty for a group that is removed meanwhile. */
function subfolders(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name);
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENODEV')) return [];
    throw error;
  }
}

/**
 * Kills the processes in the group first: when all records of a sandbox are gone, only its group leads to its
 * processes.
 */
export function removeGroup(cgroups: Cgroups, id: string): void {
  if (cgroups.parent === null) return;
  for (const folder of folders(cgroups, join(cgroups.parent, id)).filter((one) => existsSync(one))) {
    for (const pid of membersOf(folder)) signal(pid, 'SIGKILL');
    removeDeep(folder);
  }
  // crun takes the tmpfs over the unified hierarchy for a hierarchy, and makes plain folders in it.
  if (cgroups.version === 1)
    rmSync(join(mountPoint, hiddenHierarchy, cgroups.parent, id), { recursive: true, force: true });
}

function membersOf(group: string): number[] {
  return (readIfThere(join(group, 'cgroup.procs'))?.match(/\d+/g) ?? []).map(Number);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // It has ended meanwhile, ignoring.
    if (!isErrno(error, 'ESRCH')) throw error;
  }
}

/** Removes the parent if it contains no group. The caller ensures that no runtime is about to make a group in it. */
export function removeParent(cgroups: Cgroups): void {
  if (cgroups.parent === null || hasGroups(cgroups, cgroups.parent)) return;
  for (const folder of folders(cgroups, cgroups.parent)) removeEmpty(folder);
  if (cgroups.version === 1) removeEmpty(join(mountPoint, hiddenHierarchy, cgroups.parent));
}

/** A group has two links, and one for each group in it. */
function hasGroups(cgroups: Cgroups, path: string): boolean {
  return folders(cgroups, path).some((folder) => (statSync(folder, { throwIfNoEntry: false })?.nlink ?? 0) > 2);
}

function removeDeep(folder: string): void {
  for (const name of subfolders(folder)) removeDeep(join(folder, name));
  removeEmpty(folder);
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    // A group that cannot be written was not made by this daemon, ignoring.
    const isFine = ['ENOENT', 'EBUSY', 'ENOTEMPTY', 'EROFS'].some((code) => isErrno(error, code));
    if (!isFine) throw error;
  }
}

/** Null: the sandbox has no group. */
export function readStats(cgroups: Cgroups, id: string): Stats | null {
  if (cgroups.parent === null) return null;
  const path = join(cgroups.parent, id);
  return cgroups.version === 2 ? readStatsV2(join(mountPoint, path)) : readStatsV1(path);
}

function readStatsV1(path: string): Stats | null {
  const read = (controller: string, file: string) => readIfThere(join(mountPoint, controller, path, file));
  const usage = read('memory', 'memory.usage_in_bytes');
  if (usage === null) return null;
  const reclaimable = field(read('memory', 'memory.stat'), 'total_inactive_file');
  return {
    cpuSeconds: Number(read('cpuacct', 'cpuacct.usage') ?? 0) / 1e9,
    memoryBytes: Math.max(0, Number(usage) - reclaimable),
    pids: Number(read('pids', 'pids.current') ?? 0),
  };
}

function readStatsV2(folder: string): Stats | null {
  if (!existsSync(folder)) return null;
  const usage = readIfThere(join(folder, 'memory.current')) ?? 0;
  const reclaimable = field(readIfThere(join(folder, 'memory.stat')), 'inactive_file');
  return {
    cpuSeconds: field(readIfThere(join(folder, 'cpu.stat')), 'usage_usec') / 1e6,
    memoryBytes: Math.max(0, Number(usage) - reclaimable),
    pids: Number(readIfThere(join(folder, 'pids.current')) ?? 0),
  };
}

function field(text: string | null, name: string): number {
  const match = text === null ? null : new RegExp(`^${name} (\\d+)$`, 'm').exec(text);
  return match ? Number(match[1]) : 0;
}
