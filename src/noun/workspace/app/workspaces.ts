/**
 * Finds and locks the working copies of sandboxes. Code that reads or writes bases holds the lock of the sandbox, and
 * code that replaces the state of a sandbox holds the sandbox itself, so that it cannot start meanwhile.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine, Handle } from '../../../kernel/engine/engine.ts';
import type { Kernel } from '../../../kernel/kernel.ts';
import type { Row } from '../../../kernel/store/store.ts';
import { Anchor } from '../../../lib/file/anchor.ts';
import { isErrno } from '../../../lib/file/file.ts';
import { type BytePath, fromText } from '../../../model/byte-path.ts';
import { Fault, isFault } from '../../../model/fault.ts';
import { parsePathspec, pathspecText } from '../../../model/pathspec.ts';
import { hasEnded, type Sandbox } from '../../sandbox/model.ts';
import type { Reconciler } from '../../sandbox/reconcile/reconcile.ts';
import type { Sandboxes } from '../../sandbox/sandbox.ts';
import { workspacePlace } from '../launch.ts';
import { findSnapshot, snapshotState } from '../snapshot/snapshot-list.ts';
import type { WorkspacePlace } from '../workspace.ts';

export interface WorkspaceParts extends Pick<Kernel, 'store' | 'engineOf' | 'home' | 'threads' | 'locks' | 'now'> {
  readonly reconciler: Reconciler;
  readonly sandboxes: Sandboxes;
  /** Puts the folder of a sandbox in order after a crash. Required before the folder is read. */
  readonly openFolder: (id: string) => Promise<void>;
  /** Records what the changes of a sandbox are based on. */
  readonly keepBases: (sandbox: Sandbox) => Promise<void>;
}

export interface OpenedWorkspace {
  readonly sandbox: Sandbox;
  readonly place: WorkspacePlace;
}

/** The working copy of a sandbox, for reading. */
export async function openWorkspace(parts: WorkspaceParts, name: string): Promise<OpenedWorkspace> {
  const { value: sandbox } = await parts.sandboxes.kept(name);
  const place = workspacePlace(sandbox, parts.home);
  if (place === null) throw noWorkspace(sandbox);
  requireFolder(place.base, sandbox);
  await parts.openFolder(sandbox.id);
  return { sandbox, place };
}

/** The working copy in a snapshot, by its id or label; undefined: the present state. */
export async function openState(
  parts: WorkspaceParts,
  name: string,
  snapshot: string | undefined,
): Promise<OpenedWorkspace> {
  const { sandbox, place } = await openWorkspace(parts, name);
  if (snapshot === undefined) return { sandbox, place };
  const folder = parts.home.sandbox(sandbox.id);
  const { id } = findSnapshot(folder, snapshot);
  return { sandbox, place: placeIn(place, snapshotState(folder, id)) };
}

/** The working copy that a snapshot keeps. */
export function placeIn(place: WorkspacePlace, state: string): WorkspacePlace {
  return { ...place, folder: join(state, 'workspace') };
}

/**
 * Refuses a folder that is gone or leads elsewhere: the owner may move or delete it at any time, and a sandbox that
 * shares it may replace it with a link.
 */
export function requireFolder(path: string, { name, spec }: Sandbox): void {
  try {
    Anchor.reach(path).close();
    return;
  } catch (error) {
    if (!isErrno(error, 'ENOENT') && existsSync(path)) throw notPlain(path, error);
  }
  throw new Fault('not_found', `the project ${spec.project} does not exist any more`, {
    hint: `Put it back, or copy what ${name} has: carrel cp ${name}:/workspace DIR`,
  });
}

function notPlain(path: string, cause: unknown): Fault {
  return new Fault('denied', `${path} cannot be entered: it leads through a link that was not there before`, { cause });
}

function noWorkspace({ name, spec }: Sandbox): Fault {
  const why = spec.project === null ? 'it has no project' : `in mode ${spec.mode} it works on the project itself`;
  return new Fault('unsupported', `${name} has no working copy of its own: ${why}`, {
    hint: 'Make one that has: carrel create PROJECT',
  });
}

/** Runs a task while a sandbox has ended and cannot start. */
export function whileEnded<T>(parts: WorkspaceParts, row: Row<'sandbox'>, task: () => Promise<T>): Promise<T> {
  return parts.reconciler.alone(row.id, async () => {
    const current = requireCurrentSandbox(parts, row);
    if (!hasEnded(current.status) || current.spec.attempt > current.status.attempt) {
      throw new Fault('conflict', `${row.name} is ${current.status.state}`, {
        hint: `Stop it first: carrel stop ${row.name}`,
      });
    }
    return parts.locks.run(row.id, task);
  });
}

/** Runs a task while the state of a sandbox cannot change; a running sandbox is paused meanwhile. */
export function withPausedSandbox<T>(parts: WorkspaceParts, row: Row<'sandbox'>, task: () => Promise<T>): Promise<T> {
  return parts.reconciler.alone(row.id, () => parts.locks.run(row.id, () => whilePaused(parts, row, task)));
}

async function whilePaused<T>(parts: WorkspaceParts, row: Row<'sandbox'>, task: () => Promise<T>): Promise<T> {
  const sandbox = requireCurrentSandbox(parts, row);
  const { id, status } = sandbox;
  const engine = parts.engineOf(sandbox);
  if (status.state !== 'running' || (await hasGone(engine, id, status.handle))) return task();
  try {
    return await task();
  } finally {
    await engine.resume(id, status.handle);
  }
}

/** Pauses the sandbox. True: it has ended, which its record does not say yet, so nothing runs in it. */
async function hasGone(engine: Engine, id: string, handle: Handle): Promise<boolean> {
  try {
    await engine.pause(id, handle);
    return false;
  } catch (error) {
    const { kind } = isFault(error, 'conflict') ? await engine.inspect(id, handle) : { kind: null };
    if (kind === 'exited' || kind === 'absent') return true;
    throw error;
  }
}

/** The sandbox as it is now. Throws if it was removed, or is about to be, since it was found by its name. */
export function requireCurrentSandbox(
  { store }: Pick<WorkspaceParts, 'store'>,
  { id, name }: Pick<Sandbox, 'id' | 'name'>,
): Sandbox {
  const current = store.get('sandbox', id)?.value;
  if (current && current.spec.desired !== 'removed') return current;
  throw new Fault('not_found', `no sandbox ${name}: it was removed meanwhile`);
}

/**
 * Converts paths as users name them: relative to the workspace, or absolute as seen inside, with the wildcards and
 * words of git.
 */
export function bytePaths(paths: readonly string[] = []): BytePath[] {
  return paths.map((text) => {
    const { words, path } = parsePathspec(text);
    const parts = path
      .replace(/^\/workspace(?=\/|$)/, '')
      .split('/')
      .filter((part) => part !== '' && part !== '.');
    const outside = path.startsWith('/') && !/^\/workspace(\/|$)/.test(path);
    if (outside || parts.includes('..')) {
      throw new Fault('invalid', `${text} is not a path in the workspace`, {
        hint: 'Name it relative to the project, such as: src/main.ts',
      });
    }
    return fromText(pathspecText({ words: words.filter((word) => word !== 'top'), path: parts.join('/') }));
  });
}
