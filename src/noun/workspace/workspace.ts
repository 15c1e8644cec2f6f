/**
 * A workspace is a sandbox's working copy of a project.
 *
 * Life: prepared before the first start, mounted at each start, read (`changes`) at any time, running or not, and removed
 * with its sandbox. The working copy changes only by what runs inside, by `discard` and by `restore`; the project only by
 * `apply` and `undo`, and by its owner.
 *
 * Promises, kept by every kind and proved by one suite against a plain copy of the tree:
 * - Nothing an agent does changes the project, its base, or anything else outside the working copy.
 * - `changes` lists every path that differs from the base, once, sorted by bytes: each kind of entry, each mode, names
 *   of any bytes. A path that equals its base again is not listed. Times and owners do not count. Two paths that became one
 *   file are a change; one file that became two is not a change by itself.
 * - Inside folders named `.git` only what can run something is listed (hooks, configuration, attributes); the rest of a
 *   repository is transferred as commits. Other paths that differ there are counted. Nothing of a clone's repository is listed.
 * - Reading never follows, opens or waits for what an agent planted: links, FIFOs, sockets, devices, folders swapped
 *   while being read. A tree that changes under the reader gives some state each path had, or leaves it out.
 * - The base of each change is what the project had when the agent first changed that path. If that can no longer be
 *   known for certain, the change says so (`baseKnown`).
 *
 * Workspaces and engines meet only in the `Mount` values below.
 */
import { join } from 'node:path';
import type { Mount } from '../../model/mount.ts';
import type { WorkspaceKind } from '../sandbox/model.ts';

/** Where a working copy is: plain data that can be passed to another thread. */
export interface WorkspacePlace {
  readonly kind: WorkspaceKind;
  /** The folder to which changes are applied. */
  readonly project: string;
  /** The tree that the working copy was made on: the project itself, or a copy that never changes. */
  readonly base: string;
  /** The base is the project itself, which its owner may change at any time. */
  readonly live: boolean;
  /** The base is a clone: its repository belongs to the agent, and only commits of it are taken into the project. */
  readonly cloned?: boolean;
  /** The prefix of the kernel's marks on files: `user` if the daemon is root in a user namespace only. */
  readonly marks: 'trusted' | 'user';
  /** A private folder: `upper` and `work` of an overlay or the `tree` of a copy, and `base.log`. */
  readonly folder: string;
}

export function workspaceMounts(place: WorkspacePlace): readonly Mount[] {
  const before: Mount = {
    kind: 'bind',
    source: place.base,
    target: '/.workspace',
    readonly: true,
    mapOwner: true,
  };
  return [before, workingCopy(place, '/workspace')];
}

export function workingCopy({ kind, base, folder }: WorkspacePlace, target: string): Mount {
  if (kind === 'copy') return { kind: 'bind', source: join(folder, 'tree'), target, readonly: false, mapOwner: true };
  return { kind: 'overlay', lower: base, folder, target, mapOwner: true, keepsLinks: true };
}
