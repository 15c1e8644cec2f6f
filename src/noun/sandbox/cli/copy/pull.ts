/** Sandbox → host: tar inside, untar into a private folder, check, rename into place. */

import { dirname, posix, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { writeAndDrain } from '../../../../client/stream/receive.ts';
import type { ExecTarget } from '../../../../client/stream/stream.ts';
import { type Anchor, within } from '../../../../lib/file/anchor.ts';
import { Fault, isFault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';
import { execInside } from '../stream/exec.ts';
import { lastName, meansContents, meansFolder, operand } from './copy.ts';
import { ask, kindOf } from './inside.ts';
import { moveContentsInto, moveEntryInto, sanitizeTree } from './move-entry.ts';
import { openHostFolder } from './open-host-folder.ts';
import { openStage } from './stage.ts';
import { collectOutput, failedInside, sparseEnv, type Tar, unpackHere } from './tar.ts';

export interface PullOrder {
  readonly inside: ExecTarget;
  /** Null: the daemon belongs to another account, so this user has no home. */
  readonly home: string | null;
  readonly from: string;
  readonly to: string;
  /** Folders of the host that sandboxes can write. */
  readonly writable: readonly string[];
}

interface Destination {
  readonly folder: Anchor;
  /** The name of the copy; null: the destination is an existing folder. */
  readonly name: string | null;
}

export async function pull(order: PullOrder): Promise<void> {
  const destination = findDestination(order.to, order.writable);
  try {
    const path = await locate(order.inside, order.from);
    await receiveInto(order, path, destination);
  } finally {
    destination.folder.close();
  }
}

async function receiveInto(
  { inside, home, from }: PullOrder,
  path: string,
  { folder, name }: Destination,
): Promise<void> {
  const stage = openStage(home, folder);
  try {
    const entry = posix.basename(path);
    await fetchTree(inside, path, stage.folder);
    checkArrival(stage.folder, entry, from);
    sanitizeTree(stage.folder);
    if (name === null && meansContents(from)) {
      within(stage.folder.enter(entry), (arrived) => moveContentsInto(arrived, folder));
    } else moveEntryInto(stage.folder, entry, folder, name ?? lastName(from) ?? entry);
  } finally {
    stage.dispose();
  }
}

function findDestination(to: string, writable: readonly string[]): Destination {
  try {
    return { folder: openHostFolder(to, writable), name: null };
  } catch (error) {
    const isNoFolder = isFault(error, 'not_found') || isFault(error, 'invalid');
    if (!isNoFolder || meansFolder(to)) throw error;
    const path = resolve(to);
    return { folder: openHostFolder(dirname(path), writable), name: posix.basename(path) };
  }
}

/** The real path in the sandbox, with links resolved. */
async function locate(inside: ExecTarget, from: string): Promise<string> {
  if ((await kindOf(inside, from)) === 'absent') {
    throw new Fault('not_found', `${inside.name}:${printable(from)} does not exist`, {
      hint: `Look inside with: carrel exec ${inside.name} -- ls -la`,
    });
  }
  const path = await ask(inside, ['readlink', '-f', operand(from)]);
  if (path.startsWith('/') && lastName(path) !== null) return path;
  throw new Fault('invalid', `${inside.name}:${printable(from)} cannot be copied as a whole`, {
    hint: 'Name a file or a folder below the root.',
  });
}

async function fetchTree(inside: ExecTarget, path: string, folder: Anchor): Promise<void> {
  const { sinks, stderr } = collectOutput();
  const pack = ['tar', '-C', posix.dirname(path), '-cf', '-', '--', posix.basename(path)];
  const tar = await unpackHere(folder.path);
  const input = tar.child.stdin!;
  try {
    const receiving = { ...sinks, stdout: (chunk: Buffer) => feed(tar, input, chunk) };
    const exit = await execInside(inside, pack, receiving, { env: sparseEnv });
    input.end();
    const failure = await tar.ended;
    if (exit.exitCode !== 0) throw failedInside('tar', exit, stderr);
    if (failure) throw failure;
  } finally {
    input.destroy();
    tar.child.kill();
    await tar.ended;
  }
}

async function feed(tar: Tar, input: Writable, chunk: Buffer): Promise<void> {
  if (input.destroyed) throw (await tar.ended) ?? new Fault('invalid', 'tar ended before the copy did');
  await writeAndDrain(input, chunk);
}

/** A sandbox can send any archive, so anything but the requested entry is refused. */
function checkArrival(folder: Anchor, entry: string, from: string): void {
  const names = folder.names();
  const stat = folder.look(entry);
  if (names.length === 1 && stat && !stat.isSymbolicLink()) return;
  throw new Fault('denied', `the sandbox sent something else than ${printable(from)}`, { hint: 'Nothing was copied.' });
}
