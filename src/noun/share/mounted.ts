/** The mount of a share in a running sandbox, seen through its first process. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readIfThere } from '../../lib/file/file.ts';
import { inMountNamespaceOf, unmount } from '../../lib/sys/sys-mount.ts';

export type Access = 'rw' | 'ro';

interface Mounted {
  readonly id: string;
  readonly access: Access;
}

/** How the sandbox sees the share at that path; null: nothing is mounted there. */
export function mountedAt(pid: number, target: string): Access | null {
  return find(pid, target)?.access ?? null;
}

/**
 * Unmounts the share for all processes of the sandbox. A mount that a process still uses stays (`busy`): detaching it
 * would let that process go on reading and writing. The path is in no folder that agents can write, so it cannot lead
 * to another mount.
 */
export function unmountShare(pid: number, target: string): 'done' | 'busy' {
  if (find(pid, target) === null) return 'done';
  return inMountNamespaceOf(pid, () => unmount(target)) === 'busy' ? 'busy' : 'done';
}

/** Lines of mountinfo: id, parent, device, root, mount point, options. */
function find(pid: number, target: string): Mounted | null {
  const lines = (readIfThere(`/proc/${pid}/mountinfo`) ?? '').split('\n').map((line) => line.split(' '));
  const fields = lines.findLast((one) => one[4] !== undefined && unescaped(one[4]) === target);
  if (fields === undefined) return null;
  return { id: fields[0]!, access: fields[5]!.split(',').includes('ro') ? 'ro' : 'rw' };
}

function unescaped(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/** Processes of the sandbox that have something of the share open, or are in it, by pid and name. */
export function usersOf(pid: number, target: string): string[] {
  const mounted = find(pid, target);
  const namespace = namespaceOf(pid);
  if (mounted === null || namespace === null) return [];
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && namespaceOf(Number(name)) === namespace);
  return pids
    .filter((one) => isIn(one, target) || hasOpen(one, mounted.id))
    .map((one) => `${readIfThere(`/proc/${one}/comm`)?.trim() ?? 'a process'} (${one})`);
}

function namespaceOf(pid: number): string | null {
  return attempt(() => readlinkSync(`/proc/${pid}/ns/mnt`));
}

/** Whether the process uses the share by its working folder, its program, or a file that it has mapped. */
function isIn(pid: string, target: string): boolean {
  const links = ['cwd', 'exe'].map((name) => attempt(() => readlinkSync(`/proc/${pid}/${name}`)) ?? '');
  const mapped = attempt(() => readFileSync(`/proc/${pid}/maps`, 'utf8')) ?? '';
  return links.some((path) => path === target || path.startsWith(`${target}/`)) || mapped.includes(` ${target}/`);
}

function hasOpen(pid: string, mountId: string): boolean {
  const folder = `/proc/${pid}/fdinfo`;
  const descriptors = attempt(() => readdirSync(folder)) ?? [];
  return descriptors.some((name) => readIfThere(`${folder}/${name}`)?.includes(`mnt_id:\t${mountId}\n`));
}

/** A process may end while it is examined, ignoring. */
function attempt<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}
