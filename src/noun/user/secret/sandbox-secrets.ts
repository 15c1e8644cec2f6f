/**
 * The secrets of sandboxes: a folder for each in a tmpfs. A sandbox sees its folder through a mount, so a file that is
 * replaced on the host is replaced inside at once. The folders are the only record.
 */
import { fstatSync, rmdirSync, statfsSync } from 'node:fs';
import { Anchor, type Name, within } from '../../../lib/file/anchor.ts';
import { isErrno } from '../../../lib/file/file.ts';
import { Fault, isFault } from '../../../model/fault.ts';
import { idPattern } from '../../../model/name.ts';
import { checkSecretName, checkSecretValue } from '../model.ts';
import {
  dropFile,
  enterFolder,
  enterPrivate,
  inside,
  isOwn,
  makeFolder,
  makePrivate,
  notPlain,
  putWhole,
  refused,
} from './private.ts';
import { memoryFolder, type SandboxSecrets, type SecretValue, sandboxesFolder } from './secret.ts';

export class MemorySecrets implements SandboxSecrets {
  readonly #memory: string;
  readonly #name: string;

  constructor(installation: string, memory = memoryFolder) {
    this.#memory = memory;
    this.#name = sandboxesFolder(installation);
  }

  put(id: string, secrets: readonly SecretValue[]): void {
    checkId(id);
    for (const { name, value } of secrets) checkSecretValue(checkSecretName(name), value);
    this.#inMemory((memory) =>
      within(makePrivate(memory, this.#name), (all) => {
        makeFolder(all, id);
        within(enterFolder(all, id)!, (folder) => {
          dropOthers(folder, new Set(secrets.map(({ name }) => name)));
          for (const { name, value } of secrets) putValue(all, folder, name, value);
        });
      }),
    );
  }

  rotate(id: string, name: string, value: Uint8Array): boolean {
    checkId(id);
    checkSecretValue(checkSecretName(name), value);
    const rotated = this.#inMemory((memory) =>
      inside(enterPrivate(memory, this.#name), (all) =>
        inside(enterFolder(all, id), (folder) => {
          if (folder.look(name) === null) return false;
          putValue(all, folder, name, value);
          return true;
        }),
      ),
    );
    return rotated ?? false;
  }

  remove(id: string): void {
    checkId(id);
    this.#keep((name) => name !== id);
  }

  sweep(isKnown: (id: string) => boolean): void {
    this.#keep((name) => idPattern.test(name) && isKnown(name));
  }

  #keep(isKept: (name: string) => boolean): void {
    inside(openIfThere(this.#memory), (memory) => {
      const left = inside(enterOwn(memory, this.#name), (all) => {
        for (const name of all.names()) if (!isKept(name.toString())) drop(all, name);
        return all.names().length;
      });
      if (left === 0) rmdirSync(memory.at(this.#name));
    });
  }

  #inMemory<T>(work: (memory: Anchor) => T): T {
    const folder = openIfThere(this.#memory);
    if (folder === null) throw notInMemory(this.#memory);
    return within(folder, () => {
      checkMemory(folder, this.#memory);
      return whileSpace(this.#memory, () => work(folder));
    });
  }
}

function checkId(id: string): void {
  if (!idPattern.test(id)) throw new Fault('internal', `${id} is not the id of a sandbox`);
}

function openIfThere(path: string): Anchor | null {
  try {
    return Anchor.open(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) return null;
    throw error;
  }
}

/** TMPFS_MAGIC of statfs(2). */
const tmpfs = 0x0102_1994;

function checkMemory(folder: Anchor, path: string): void {
  if (statfsSync(`/proc/self/fd/${folder.fd}`).type !== tmpfs) throw notInMemory(path);
}

function notInMemory(path: string): Fault {
  return new Fault('unsupported', `sandboxes cannot get secrets: ${path} is not a tmpfs`, {
    hint: `Mount a tmpfs there: mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs ${path}`,
  });
}

function whileSpace<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!isErrno(error, 'ENOSPC')) throw error;
    throw new Fault('exhausted', `no space left in ${path}`, { cause: error, hint: 'Make that tmpfs larger.' });
  }
}

/** Null: the folder does not exist, or another account made it. */
function enterOwn(memory: Anchor, name: string): Anchor | null {
  try {
    const folder = enterFolder(memory, name);
    if (folder === null || isOwn(fstatSync(folder.fd))) return folder;
    folder.close();
    return null;
  } catch (error) {
    if (isFault(error, 'denied') || isErrno(error, 'EACCES')) return null;
    throw error;
  }
}

/**
 * Writes a value. Its owner is that of the old file or of the folder: the agent once the folder was mounted, and before
 * that this account.
 */
function putValue(all: Anchor, folder: Anchor, name: string, value: Uint8Array): void {
  checkMemory(folder, name);
  const { uid, gid } = plain(folder, name) ?? fstatSync(folder.fd);
  putWhole(all, folder, name, { bytes: value, mode: 0o400, owner: { uid, gid } });
}

function dropOthers(folder: Anchor, granted: ReadonlySet<string>): void {
  for (const name of folder.list()) {
    if (plain(folder, name) !== null && !granted.has(name)) dropFile(folder, name);
  }
}

function plain(folder: Anchor, name: string) {
  const stat = folder.look(name);
  if (stat?.isFile() === false) throw refused(name, notPlain);
  return stat;
}

function drop(all: Anchor, name: Name): void {
  if (!all.look(name)?.isDirectory()) {
    dropFile(all, name);
    return;
  }
  within(all.enter(name), (folder) => {
    for (const one of folder.names()) dropFile(folder, one);
  });
  rmdirSync(all.at(name));
}
