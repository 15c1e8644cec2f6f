/**
 * Mounts whose target is inside another mount. An agent can write to the outer one, so the path to the target may
 * contain a link at the next start, and runtimes follow links. So no runtime gets such a mount: the daemon attaches it
 * in the sandbox before its command begins, or on the stage of an engine that takes the outer mount with everything in
 * it. The target is opened name by name from an open folder, without following links. Anything else at that path is
 * left unchanged, and the start is refused.
 */
import { closeSync, constants, openSync } from 'node:fs';
import { relative } from 'node:path';
import { O_PATH } from '../../../../lib/file/anchor.ts';
import { type FolderEntry, makeFolderAt, openAt, SysError } from '../../../../lib/sys/sys.ts';
import { asFileUser } from '../../../../lib/sys/sys-ids.ts';
import { attachTree, copyTree } from '../../../../lib/sys/sys-mount.ts';
import { Fault } from '../../../../model/fault.ts';
import type { Mount } from '../../../../model/mount.ts';
import type { UserIds } from './owner-namespace.ts';

/**
 * For each mount the index of the innermost mount that contains it; null: there is none, or it is a tmpfs, which is
 * empty.
 */
export type Outer = readonly (number | null)[];

export function outerMounts(mounts: readonly Mount[]): Outer {
  return mounts.map((mount) => {
    const around = mounts.filter((other) => mount.target.startsWith(`${other.target}/`));
    const innermost = around.sort((one, other) => other.target.length - one.target.length)[0];
    if (innermost === undefined || innermost.kind === 'tmpfs') return null;
    if (mount.kind === 'tmpfs') throw new Fault('unsupported', `no tmpfs can be mounted at ${mount.target}`);
    return mounts.indexOf(innermost);
  });
}

/** Whether another mount is inside it. */
export function isOuter(outer: Outer, index: number): boolean {
  return outer.includes(index);
}

export interface Nesting {
  readonly mounts: readonly Mount[];
  readonly outer: Outer;
  /** The path of a mount that is in no other one. Only the daemon can write to the folders on that path. */
  readonly root: (index: number) => string;
  /** The descriptor of the mount to attach, by the index of the mount. */
  readonly tree: (index: number) => number;
  readonly agent: UserIds;
}

/** Attaches the inner mounts, outermost first. */
export function nestMounts({ mounts, outer, root, tree, agent }: Nesting): void {
  const depth = (index: number) => mounts[index]!.target.split('/').length;
  for (const index of innerMounts(outer).sort((one, other) => depth(one) - depth(other))) {
    const { target } = mounts[index]!;
    const top = topOf(outer, index);
    const path = relative(mounts[top]!.target, target);
    withPlace(root(top), path, { target, agent }, (fd) => attachTree(tree(index), fd));
  }
}

export function innerMounts(outer: Outer): number[] {
  return outer.flatMap((parent, index) => (parent === null ? [] : [index]));
}

function topOf(outer: Outer, index: number): number {
  const parent = outer[index] ?? null;
  return parent === null ? index : topOf(outer, parent);
}

/** Passes copies of the mounts at these paths to `work`, and closes them afterwards. */
export function withTrees<T>(
  indexes: readonly number[],
  place: (index: number) => string,
  work: (tree: (index: number) => number) => T,
): T {
  const trees = new Map<number, number>();
  try {
    for (const index of indexes) trees.set(index, copyTree(place(index)));
    return work((index) => trees.get(index)!);
  } finally {
    for (const fd of trees.values()) closeSync(fd);
  }
}

interface Wanted {
  readonly target: string;
  readonly agent: UserIds;
}

function withPlace(root: string, path: string, wanted: Wanted, use: (fd: number) => void): void {
  let fd = openSync(root, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    for (const name of path.split('/')) {
      const next = enter({ folderFd: fd, name: Buffer.from(name) }, wanted);
      closeSync(fd);
      fd = next;
    }
    use(fd);
  } catch (error) {
    throw error instanceof SysError ? cannotMount(wanted.target, error) : error;
  } finally {
    closeSync(fd);
  }
}

/** Opens a folder, and makes it with agent as owner if it is missing. */
function enter(place: FolderEntry, { agent }: Wanted): number {
  const flags = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  try {
    return openAt(place, flags);
  } catch (error) {
    if (!(error instanceof SysError) || error.code !== 'ENOENT') throw error;
    asFileUser(agent, () => makeFolderAt(place, 0o755));
    return openAt(place, flags);
  }
}

const reasons: { readonly [code: string]: string } = {
  ENOTDIR: 'a link or a file is at this path, or at a folder above it',
  EACCES: 'the account agent of the sandbox may not create that folder',
  EROFS: 'the folder above it is read-only and has no such folder',
  ENOENT: 'the folder was removed meanwhile',
};

function cannotMount(target: string, cause: SysError): Fault {
  return new Fault('denied', `cannot mount ${target}: ${reasons[cause.code] ?? cause.message}`, {
    cause,
    hint: 'Restore an earlier snapshot (carrel restore), or create the sandbox again with another path, such as /data/NAME.',
  });
}

/**
 * Refuses nested mounts, for engines that open targets by path themselves. Such an engine may mount below folders that
 * no agent can write.
 */
export function refuseNested(mounts: readonly Mount[]): void {
  const outer = outerMounts(mounts).map((index) => (index === null ? null : mounts[index]!));
  const inner = outer.findIndex((one) => one !== null && !(one.kind === 'bind' && one.daemonOnly));
  if (inner < 0) return;
  throw new Fault(
    'unsupported',
    `${mounts[inner]!.target} is inside of what agents can write, and cannot be mounted safely`,
    {
      hint: 'Choose another target, such as /data/memory-bank; or use the embedded engine: --engine local.',
    },
  );
}
