/**
 * `state` in the folder of a sandbox holds everything of the sandbox that persists and changes. `workspace` and `home`
 * hold the layers of an overlay or a whole tree, `data` is the agent's.
 */
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { syncAround } from '../../../lib/file/disk.ts';
import { removeTree, syncFolder } from '../../../lib/file/file.ts';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { Fault } from '../../../model/fault.ts';
import { copyFolder } from './copy-folder.ts';
import { fillDisk, hasDisk, openDisk } from './disk.ts';

export function statePath(sandboxFolder: string): string {
  return join(sandboxFolder, 'state');
}

/** Makes the state ready to use, with or without a disk. */
export async function openState(sandboxFolder: string): Promise<string> {
  const state = statePath(sandboxFolder);
  mkdirSync(state, { recursive: true, mode: 0o711 });
  await openDisk(sandboxFolder);
  return state;
}

/** Copies the content of `source` into `target`, which may exist and be empty. */
export async function fillState(source: string, target: string): Promise<void> {
  mkdirSync(target, { recursive: true });
  for (const name of readdirSync(source)) await copyFolder(join(source, name), join(target, name));
  for (const name of ['workspace', 'home']) await renewWork(join(target, name));
  likeOriginal(source, target);
}

/**
 * Temporary files of the kernel are of no use to another mount, except for the index, which has more names of changed
 * files.
 */
export async function renewWork(layers: string): Promise<void> {
  const work = join(layers, 'work');
  if (!existsSync(work)) return;
  const index = join(work, 'index');
  const hasNames = existsSync(index) && readdirSync(index).length > 0;
  for (const name of readdirSync(work)) if (name !== 'index' || !hasNames) await removeTree(join(work, name));
}

function likeOriginal(source: string, target: string): void {
  const { mode, uid, gid } = statSync(source);
  chownSync(target, uid, gid);
  chmodSync(target, mode & 0o7777);
}

/** Copies the state of one sandbox to another that has none yet, as a whole or not at all. */
export async function copyState(fromSandboxFolder: string, toSandboxFolder: string): Promise<void> {
  const source = await openState(fromSandboxFolder);
  const target = statePath(toSandboxFolder);
  if (hasDisk(toSandboxFolder) || (existsSync(target) && readdirSync(target).length > 0)) {
    throw new Fault('conflict', `${toSandboxFolder} has a state already`);
  }
  mkdirSync(toSandboxFolder, { recursive: true, mode: 0o711 });
  if (hasDisk(fromSandboxFolder))
    return fillDisk(fromSandboxFolder, toSandboxFolder, (disk) => fillState(source, disk));
  const temporary = `${target}.new`;
  await removeTree(temporary);
  try {
    await fillState(source, temporary);
    await syncAround(temporary);
    crashPoint('state:filled');
    if (existsSync(target)) rmdirSync(target);
    renameSync(temporary, target);
    syncFolder(toSandboxFolder);
  } catch (error) {
    await removeTree(temporary);
    throw error;
  }
}
