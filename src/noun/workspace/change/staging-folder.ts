/** Puts single entries of a base back into a working copy that nothing uses, and moves others out of it. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  constants,
  futimesSync,
  lchownSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { Anchor } from '../../../lib/file/anchor.ts';
import { isErrno } from '../../../lib/file/file.ts';
import type { Stat } from '../../../lib/sys/stat.ts';
import { type BytePath, toBytes } from '../../../model/byte-path.ts';
import { Fault } from '../../../model/fault.ts';
import { copyPart, openRegular, using } from '../tree/content.ts';
import { entryAt } from '../tree/tree.ts';

/** A folder where entries are made before they are moved to their place, and moved to before they are removed. */
export class StagingFolder {
  readonly #path: string;
  readonly #folder: Anchor;
  #count = 0;
  /** For each file with several names in the base, one name in this folder. */
  readonly #names = new Map<string, string>();

  constructor(path: string) {
    this.#path = path;
    mkdirSync(path, { recursive: true, mode: 0o700 });
    this.#folder = Anchor.reach(path);
  }

  /** A folder is moved with everything in it. */
  take(folder: Anchor, name: BytePath): void {
    renameSync(folder.at(toBytes(name)), this.#fresh());
  }

  /** False: it is a socket, FIFO or device, which are not made, or it changed meanwhile. */
  put(from: Anchor, name: BytePath, stat: Stat, to: Anchor, prepare?: (path: string) => void): boolean {
    const path = this.#fresh();
    if (!this.#isLinked(stat, path) && !this.#make(from, name, stat, path)) return false;
    prepare?.(path);
    if (stat.isFile() && stat.nlink > 1n) this.#keepName(stat, path);
    renameSync(path, to.at(toBytes(name)));
    return true;
  }

  /** Names of one file in the base become one file again if they are put back by the same discard. */
  #isLinked({ dev, ino }: Stat, path: string): boolean {
    const other = this.#names.get(`${dev}:${ino}`);
    if (other !== undefined) linkSync(other, path);
    return other !== undefined;
  }

  #keepName({ dev, ino }: Stat, path: string): void {
    const [key, name] = [`${dev}:${ino}`, this.#fresh()];
    if (this.#names.has(key)) return;
    linkSync(path, name);
    this.#names.set(key, name);
  }

  /** Removes the folder. After a crash the next discard removes it. */
  dispose(): void {
    this.#folder.close();
    const { status, stderr } = spawnSync('rm', ['-rf', '--one-file-system', '--', this.#path]);
    if (status !== 0) throw new Fault('internal', `cannot remove ${this.#path}: ${stderr?.toString().trim()}`);
  }

  #fresh(): string {
    this.#count += 1;
    return join(this.#path, `${process.pid}-${Date.now()}-${this.#count}`);
  }

  #make(from: Anchor, name: BytePath, stat: Stat, path: string): boolean {
    const entry = entryAt(from, name, stat);
    if (entry?.type === 'link') symlinkSync(toBytes(entry.target!), path);
    else if (entry?.type === 'folder') mkdirSync(path);
    else if (entry?.type !== 'file' || !makeFile(from, name, stat, path)) return false;
    own(path, stat);
    if (entry.type !== 'link') chmodSync(path, Number(stat.mode & 0o7777n));
    return true;
  }
}

function makeFile(from: Anchor, name: BytePath, stat: Stat, path: string): boolean {
  const made = using(openRegular(from, name), (part) => {
    const fd = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      copyPart(part, fd);
      futimesSync(fd, Number(stat.atimeMs) / 1000, Number(stat.mtimeMs) / 1000);
    } finally {
      closeSync(fd);
    }
    return true;
  });
  return made ?? false;
}

function own(path: string, { uid, gid }: Stat): void {
  try {
    lchownSync(path, Number(uid), Number(gid));
  } catch (error) {
    // An owner without an id in this user namespace cannot be set, ignoring.
    if (!isErrno(error, 'EINVAL') && !isErrno(error, 'EPERM')) throw error;
  }
}
