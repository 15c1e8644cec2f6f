/** Finds and records plain changes, which are made without the tools: in one file, or by a scan of the folder. */

import { isFault } from '../../../model/fault.ts';
import type { BankLimits, BankWriter } from '../model/bank.ts';
import type { Scanned } from './bank.ts';
import { isDiskFull, pathFault } from './bank-fault.ts';
import type { FoundFile } from './files/bank-walk.ts';
import type { BankFiles, FoundContent } from './files/files.ts';
import type { FileState, History } from './history/history.ts';
import type { PendingVersions } from './history/pending-versions.ts';

/** Limits of one scan; the next scan continues. */
const maxScanned = { files: 500, bytes: 32 * 1024 ** 2 };

export interface PlainParts {
  readonly history: History;
  readonly files: BankFiles;
  readonly pending: PendingVersions;
  readonly limits: BankLimits;
  readonly now: () => Date;
}

export interface NoticedChange {
  readonly found: FoundContent | null;
  readonly state: FileState | null;
}

export class PlainChanges {
  readonly #parts: PlainParts;

  constructor(parts: PlainParts) {
    this.#parts = parts;
  }

  scan(plain: BankWriter): Scanned {
    const { files: folder, history } = this.#parts;
    const { files, isCut } = folder.list(null);
    const known = new Map(history.files().map((state) => [state.path, state]));
    const met = new Set(files.map(({ path }) => path));
    const missed = [...known.values()].filter(({ path, hash }) => hash !== null && !met.has(path));
    // An agent can create so many files that the listing ends before the known files. These are looked up one by one,
    // and
    // compared first.
    const looked = isCut ? missed.flatMap(({ path }) => folder.look(path) ?? []) : [];
    const isChanged = ({ path, stamp }: FoundFile) => stamp === null || known.get(path)?.stamp !== stamp;
    const changes = this.#scanSome([...looked, ...files].filter(isChanged), plain);
    const there = new Set(looked.map(({ path }) => path));
    const gone = missed.filter(({ path }) => !there.has(path));
    for (const { path } of gone) this.#noticeQuietly(path, plain);
    return { changes: changes.count + gone.length, isCut: changes.isCut || isCut };
  }

  /** Compares the file with its record, and records a change that was not made by `write`. */
  notice(path: string, plain: BankWriter): NoticedChange & { readonly isNew: boolean } {
    const { history, pending, now } = this.#parts;
    pending.settleAll();
    const found = this.#readFile(path);
    const state = history.file(path);
    const hash = found?.hash ?? null;
    if (hash === (state?.hash ?? null)) {
      if (found?.stamp && found.stamp !== state?.stamp) history.setStamp(path, found.stamp);
      return { found, state, isNew: false };
    }
    if (state === null && !history.makeRoomForFile()) return { found, state, isNew: false };
    const version = { path, act: 'plain', by: plain, hash, bytes: found?.bytes ?? null } as const;
    const content = found?.content ?? null;
    const isRoom = history.makeRoom(content?.length ?? 0);
    history.transact(() => {
      const { id } = history.add({ ...version, at: now().toISOString(), content: isRoom ? content : null }, false);
      history.settle(id, found?.stamp ?? null);
    });
    return { found, state: history.file(path), isNew: true };
  }

  /**
   * On a full disk a file can still be read: a later call records the change. Until then the content has no version.
   */
  noticeIfSpace(path: string, plain: BankWriter): NoticedChange {
    try {
      return this.notice(path, plain);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      const found = this.#readFile(path);
      const state = this.#parts.history.file(path);
      return { found, state: found?.hash === state?.hash ? state : null };
    }
  }

  #scanSome(files: readonly FoundFile[], plain: BankWriter): { readonly count: number; readonly isCut: boolean } {
    let count = 0;
    let bytes = 0;
    for (const [index, { path, bytes: size }] of files.entries()) {
      bytes += Math.min(size, this.#parts.limits.fileBytes);
      if (index >= maxScanned.files || bytes > maxScanned.bytes) return { count, isCut: true };
      if (this.#noticeQuietly(path, plain)) count += 1;
    }
    return { count, isCut: false };
  }

  #noticeQuietly(path: string, plain: BankWriter): boolean {
    try {
      return this.notice(path, plain).isNew;
    } catch (error) {
      // The file became a link or a special file meanwhile, ignoring: the next scan finds no file there.
      if (isFault(error, 'denied')) return false;
      throw error;
    }
  }

  #readFile(path: string): FoundContent | null {
    try {
      return this.#parts.files.read(path);
    } catch (error) {
      throw pathFault(path, error);
    }
  }
}
