/** The folder of a bank. Agents write there at any time: each name is resolved in an open folder, and no link is followed. */
import { createHash } from 'node:crypto';
import { closeSync, fchownSync, fstatSync, fsyncSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Anchor, within } from '../../../../lib/file/anchor.ts';
import { isRefusal, openRegular, openRegularBelow, readUpTo } from '../../../../lib/file/bounded-read.ts';
import { isErrno } from '../../../../lib/file/file.ts';
import { makeFile } from '../../../../lib/file/make-file.ts';
import { crashPoint } from '../../../../lib/flow/crash-point.ts';
import { renameExchange, renameNoReplace } from '../../../../lib/sys/sys.ts';
import { Fault } from '../../../../model/fault.ts';
import { type BankLimits, isBankPath } from '../../model/bank.ts';
import type { BankPlace } from '../bank.ts';
import { type FoundFile, namesIn, stampOf, Walk } from './bank-walk.ts';

export interface FoundContent extends FoundFile {
  readonly hash: string;
  /** Null: the file is larger than the limit; then `hash` covers the size and the part that was read. */
  readonly content: Buffer | null;
}

export function hashOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

export class BankFiles {
  readonly #place: BankPlace;
  readonly #stage: string;
  /** The size up to which the content of a file is read. */
  readonly #maxBytes: number;
  /** The number of entries that one listing of the folder visits. */
  readonly #maxEntries: number;

  constructor(place: BankPlace, { fileBytes, files }: Pick<BankLimits, 'fileBytes' | 'files'>) {
    this.#place = place;
    this.#maxBytes = fileBytes;
    this.#maxEntries = 2 * files;
    this.#stage = join(place.folder, 'stage');
    // Files that a crash left there are of writes that were never acknowledged.
    rmSync(this.#stage, { recursive: true, force: true });
    mkdirSync(this.#stage, { recursive: true, mode: 0o700 });
  }

  /** Null: there is no such file. A link, a folder or a special file is refused. */
  read(path: string): FoundContent | null {
    return within(this.#root(), (root) => {
      const file = openRegularBelow(root, path.split('/'));
      if (file === null) return null;
      try {
        return contentOf(path, file.fd, this.#maxBytes);
      } finally {
        closeSync(file.fd);
      }
    });
  }

  /** One file, without its content. Null: there is no regular file. */
  look(path: string): FoundFile | null {
    return within(this.#root(), (root) => {
      const file = regularBelow(root, path);
      if (file === null) return null;
      try {
        const stat = fstatSync(file.fd, { bigint: true });
        return { path, bytes: Number(stat.size), stamp: stampOf(stat) };
      } finally {
        closeSync(file.fd);
      }
    });
  }

  /** Names of the folders in the bank. */
  projects(): string[] {
    return within(this.#root(), (root) =>
      namesIn(root, this.#maxEntries).filter((name) => root.look(name)?.isDirectory() === true && isBankPath(name)),
    ).sort();
  }

  /** Regular files below a folder; null: all. Files whose names are not UTF-8 are left out. */
  list(below: string | null): { readonly files: FoundFile[]; readonly isCut: boolean } {
    const walk = new Walk(this.#maxEntries);
    within(this.#root(), (root) => {
      if (below === null) walk.visit(root, '');
      else walk.enter(root, below, below);
    });
    return { files: walk.files, isCut: walk.isCut };
  }

  /**
   * Replaces or creates the file, and creates missing folders. `replaces` is the hash of the content that may be
   * replaced; null: there must be no file. False: the path has something else, which stays unchanged.
   */
  put(path: string, content: Buffer, replaces: string | null): FoundFile | false {
    const names = path.split('/');
    const staged = this.#staged(content);
    try {
      return within(this.#folderOf(names.slice(0, -1)), (folder) => {
        if (!this.#moveIn(staged, folder, names.at(-1)!, replaces)) return false;
        fsyncSync(folder.fd);
        return { path, bytes: content.length, stamp: null };
      });
    } finally {
      rmSync(staged, { force: true });
    }
  }

  /** Removes the file if it has this content. False: it has another one. */
  remove(path: string, hash: string): boolean {
    const names = path.split('/');
    return within(this.#folderOf(names.slice(0, -1)), (folder) => {
      if (this.read(path)?.hash !== hash) return false;
      rmSync(folder.at(names.at(-1)!), { force: true });
      fsyncSync(folder.fd);
      return true;
    });
  }

  /** Creates a folder. A link or file that has the name already stays. */
  ensureFolder(name: string): void {
    try {
      this.#folderOf([name]).close();
    } catch (error) {
      if (!isErrno(error, 'ELOOP') && !isErrno(error, 'ENOTDIR')) throw error;
    }
  }

  #root(): Anchor {
    try {
      return Anchor.open(this.#place.files);
    } catch (error) {
      if (!isErrno(error, 'ENOENT')) throw error;
      throw new Fault('unavailable', 'the volume of the memory bank is not there', {
        cause: error,
        hint: 'carrel volume init makes it.',
      });
    }
  }

  #staged(content: Buffer): string {
    const path = join(this.#stage, 'new');
    rmSync(path, { force: true });
    const { ownerId } = this.#place;
    const owner = ownerId === null ? {} : { owner: { uid: ownerId, gid: ownerId } };
    makeFile(path, { bytes: content, mode: 0o600, ...owner });
    return path;
  }

  #own(fd: number): void {
    const { ownerId } = this.#place;
    if (ownerId !== null) fchownSync(fd, ownerId, ownerId);
  }

  #folderOf(names: readonly string[]): Anchor {
    let folder = this.#root();
    for (const name of names) {
      const above = folder;
      folder = within(above, () => this.#entered(above, name));
    }
    return folder;
  }

  #entered(above: Anchor, name: string): Anchor {
    try {
      mkdirSync(above.at(name), { mode: 0o700 });
      fsyncSync(above.fd);
    } catch (error) {
      if (!isErrno(error, 'EEXIST')) throw error;
      return above.enter(name);
    }
    const made = above.enter(name);
    this.#own(made.fd);
    return made;
  }

  /**
   * Exchanges the staged file with the old one and then compares the old one in the stage, because an agent may have
   * changed it until that moment. If it differs, the files are exchanged back.
   */
  #moveIn(staged: string, folder: Anchor, name: string, replaces: string | null): boolean {
    return within(Anchor.open(dirname(staged)), (stage) => {
      const [from, to] = [entry(stage, 'new'), entry(folder, name)];
      try {
        if (replaces === null) renameNoReplace(from, to);
        else renameExchange(from, to);
      } catch (error) {
        if (isErrno(error, 'EEXIST') || isErrno(error, 'ENOENT')) return false;
        if (isErrno(error, 'EINVAL')) return this.#plainRename(staged, folder, name, replaces);
        throw error;
      }
      crashPoint('bank:placed');
      if (replaces === null || this.#isContent(staged, replaces)) return true;
      renameExchange(from, to);
      return false;
    });
  }

  /**
   * For a filesystem that cannot exchange files. A plain write of an agent between the check and the rename can be
   * lost.
   */
  #plainRename(staged: string, folder: Anchor, name: string, replaces: string | null): boolean {
    const target = folder.at(name);
    const isThere = folder.look(name) !== null;
    if (replaces === null ? isThere : !isThere || !this.#isContent(target, replaces)) return false;
    renameSync(staged, target);
    crashPoint('bank:placed');
    return true;
  }

  #isContent(path: string | Buffer, hash: string): boolean {
    try {
      const file = openRegular(path);
      if (file === null) return false;
      try {
        return contentOf('', file.fd, this.#maxBytes).hash === hash;
      } finally {
        closeSync(file.fd);
      }
    } catch (error) {
      if (isRefusal(error, 'link') || isRefusal(error, 'not_regular')) return false;
      throw error;
    }
  }
}

function regularBelow(root: Anchor, path: string) {
  try {
    return openRegularBelow(root, path.split('/'));
  } catch (error) {
    if (isRefusal(error, 'link') || isRefusal(error, 'not_regular')) return null;
    throw error;
  }
}

function entry(folder: Anchor, name: string) {
  return { folderFd: folder.fd, name: Buffer.from(name) };
}

function contentOf(path: string, fd: number, maxBytes: number): FoundContent {
  const stat = fstatSync(fd, { bigint: true });
  const bytes = readUpTo(fd, maxBytes + 1);
  const stamp = stampOf(stat);
  if (bytes.length <= maxBytes) return { path, bytes: bytes.length, stamp, hash: hashOf(bytes), content: bytes };
  const hash = `large:${stat.size}:${hashOf(bytes)}`;
  return { path, bytes: Number(stat.size), stamp, hash, content: null };
}
