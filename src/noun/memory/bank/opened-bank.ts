/** A bank over its folder and its history, in a thread. All work is synchronous, so that calls do not interleave. */
import { rmSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { isErrno } from '../../../lib/file/file.ts';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { unifiedDiff } from '../../../lib/text/diff.ts';
import { textOf } from '../../../lib/text/text.ts';
import type { ThreadObjectKind } from '../../../lib/wire/thread-objects.ts';
import { Fault, isFault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import {
  type BankLimits,
  type BankLock,
  type BankVersion,
  type BankWriter,
  checkBankPath,
  checkBankProject,
  lockSeconds,
  sharedProject,
} from '../model/bank.ts';
import type {
  Bank,
  BankChange,
  BankFile,
  BankPlace,
  BankStatus,
  BankText,
  LoggedVersion,
  LogQuery,
  Scanned,
} from './bank.ts';
import {
  beingWritten,
  checkExpected,
  isSame,
  noFile,
  noVersion,
  requireUnlocked,
  tooLarge,
  tooMany,
} from './bank-check.ts';
import { bankFault, pathFault } from './bank-fault.ts';
import { BankFiles, type FoundContent, hashOf } from './files/files.ts';
import { damagedHistories, openDatabase } from './history/bank-database.ts';
import { type FileState, History, historyFull, type NewVersion } from './history/history.ts';
import { PendingVersions } from './history/pending-versions.ts';
import { PlainChanges } from './plain-changes.ts';

/** The number of attempts to write a file that agents keep changing. */
const tries = 3;
const maxDiffBytes = 1024 ** 2;
const scannedKey = 'scannedAt';

export interface OpenedBankOptions {
  readonly limits: BankLimits;
  readonly now: () => Date;
}

export function bankObjects(now = () => new Date()): ThreadObjectKind<OpenedBank> {
  return {
    open: (_, [place, limits]: readonly [BankPlace, BankLimits]) => new OpenedBank(place, { limits, now }),
    erase: (folder) => rmSync(folder, { recursive: true, force: true }),
    notOpen: () => new Fault('unavailable', 'the memory bank is not open'),
    faultOf: (_, error) => bankFault(error),
  };
}

export class OpenedBank implements Bank {
  readonly #place: BankPlace;
  readonly #limits: BankLimits;
  readonly #now: () => Date;
  readonly #db: Database;
  readonly #history: History;
  readonly #files: BankFiles;
  readonly #pending: PendingVersions;
  readonly #plain: PlainChanges;

  constructor(place: BankPlace, { limits, now }: OpenedBankOptions) {
    this.#place = place;
    this.#limits = limits;
    this.#now = now;
    this.#db = openDatabase(place.folder);
    this.#history = new History(this.#db, limits);
    this.#files = new BankFiles(place, limits);
    this.#pending = new PendingVersions(this.#history, (path) => this.#look(path)?.hash ?? null);
    this.#pending.settleAll();
    const [history, files, pending] = [this.#history, this.#files, this.#pending];
    this.#plain = new PlainChanges({ history, files, pending, limits, now });
  }

  async projects(): Promise<readonly string[]> {
    return [...new Set([...this.#files.projects(), sharedProject])].sort();
  }

  async files(project: string): Promise<readonly BankFile[]> {
    const { files } = this.#files.list(checkBankProject(project));
    return files.map(({ path, bytes }) => ({ path, bytes, version: this.#history.file(path)?.version ?? 0 }));
  }

  async read(path: string, plain: BankWriter): Promise<BankText> {
    const { found, state } = this.#plain.noticeIfSpace(checkBankPath(path), plain);
    if (found === null) throw noFile(path);
    if (found.content === null) throw tooLarge(path, found.bytes, this.#limits);
    const content = textOf(found.content);
    if (content === null) throw new Fault('denied', `${printable(path)} is not text in UTF-8`);
    return { content, version: this.#version(path, state, plain) };
  }

  async write(change: BankChange, plain: BankWriter): Promise<BankVersion> {
    const path = checkBankPath(change.path);
    const content = Buffer.from(change.content);
    if (content.length > this.#limits.fileBytes) throw tooLarge(path, content.length, this.#limits);
    requireUnlocked(this.#locks(), path, change.by);
    return this.#replace(path, { act: 'write', by: change.by, content }, plain, (state) =>
      checkExpected(path, state, change.expected, hashOf(content), this.#ownLast(path, state, change.by)),
    );
  }

  async lock(path: string, by: BankWriter, seconds: number): Promise<BankLock> {
    checkBankPath(path);
    if (!(seconds >= 1 && seconds <= lockSeconds.most))
      throw new Fault('invalid', `a lock is held for 1 to ${lockSeconds.most} seconds`);
    return this.#history.transact(() => {
      const locks = this.#locks();
      requireUnlocked(locks, path, by);
      const own = locks.filter((one) => isSame(one.by, by) && one.path !== path);
      if (own.length >= this.#limits.locks)
        throw new Fault('exhausted', `a writer has at most ${this.#limits.locks} locks at once`);
      const until = new Date(this.#now().getTime() + seconds * 1000).toISOString();
      this.#history.setLock(path, by, until);
      return { path, by, until };
    });
  }

  async unlock(path: string, by: BankWriter): Promise<boolean> {
    return this.#history.removeLock(checkBankPath(path), by);
  }

  async log({ path, limit, diffs }: LogQuery): Promise<readonly LoggedVersion[]> {
    const found = this.#history.log(path === null ? null : checkBankPath(path), limit);
    if (!diffs) return found;
    let left = maxDiffBytes;
    return found.map((one) => {
      const diff = left > 0 ? this.#diff(one) : null;
      left -= diff?.length ?? 0;
      return diff === null ? one : { ...one, diff };
    });
  }

  async restore(path: string, version: number, by: BankWriter, plain: BankWriter): Promise<BankVersion> {
    const found = this.#history.version(checkBankPath(path), version);
    if (found === null) throw noVersion(path, version);
    const content = this.#history.content(path, version);
    if (content !== null) return this.#replace(path, { act: 'restore', by, content }, plain, () => true);
    if (found.bytes === null) return this.#removeFile(path, by, plain);
    throw new Fault('not_found', `the content of version ${version} of ${printable(path)} was not kept`);
  }

  async scan(plain: BankWriter): Promise<Scanned> {
    this.#files.ensureFolder(sharedProject);
    const scanned = this.#plain.scan(plain);
    // The time may be lost in a crash: with an older one, more sandboxes are named that could have written.
    if (!scanned.isCut) this.#history.setMeta(scannedKey, this.#now().toISOString());
    return scanned;
  }

  async scannedAt(): Promise<string | null> {
    return this.#history.meta(scannedKey);
  }

  async status(): Promise<BankStatus> {
    const { versions, bytes } = this.#history.totals();
    const locks = this.#locks();
    const setAside = damagedHistories(this.#place.folder);
    return { files: this.#history.fileCount(), versions, historyBytes: bytes, locks, setAside };
  }

  async close(): Promise<void> {
    this.#db.close();
  }

  #look(path: string): FoundContent | null {
    try {
      return this.#files.read(path);
    } catch (error) {
      const fault = pathFault(path, error);
      if (isFault(fault)) return null;
      throw fault;
    }
  }

  #add(version: Omit<NewVersion, 'at'>, isPending: boolean) {
    return this.#history.add({ ...version, at: this.#now().toISOString() }, isPending);
  }

  /** `mayReplace` returns false if the file is as wanted already, and throws if the file may not be replaced. */
  #replace(
    path: string,
    change: { readonly act: 'write' | 'restore'; readonly by: BankWriter; readonly content: Buffer },
    plain: BankWriter,
    mayReplace: (state: FileState | null) => boolean,
  ): BankVersion {
    const hash = hashOf(change.content);
    for (let time = 0; time < tries; time += 1) {
      const { state } = this.#plain.notice(path, plain);
      if (!mayReplace(state) || state?.hash === hash) return this.#version(path, state, plain);
      if (state === null && !this.#history.makeRoomForFile()) throw tooMany(this.#limits);
      const done = this.#attempt(path, { ...change, hash }, state?.hash ?? null);
      if (done !== null) return done;
    }
    throw beingWritten(path);
  }

  /** Null: the file was changed meanwhile. */
  #attempt(
    path: string,
    { act, by, content, hash }: Pick<NewVersion, 'act' | 'by'> & { content: Buffer; hash: string },
    replaces: string | null,
  ): BankVersion | null {
    if (!this.#history.makeRoom(content.length)) throw historyFull(this.#limits);
    const { id, version } = this.#history.transact(() =>
      this.#add({ path, act, by, hash, bytes: content.length, content }, true),
    );
    crashPoint('bank:recorded');
    let isPlaced = false;
    try {
      isPlaced = this.#files.put(path, content, replaces) !== false;
    } catch (error) {
      throw pathFault(path, error);
    } finally {
      this.#pending.end(id, isPlaced);
    }
    crashPoint('bank:settled');
    return isPlaced ? this.#history.version(path, version) : null;
  }

  #removeFile(path: string, by: BankWriter, plain: BankWriter): BankVersion {
    for (let time = 0; time < tries; time += 1) {
      const { state } = this.#plain.notice(path, plain);
      if (state?.hash === null || state === null) return this.#version(path, state, plain);
      if (!this.#removed(path, state.hash)) continue;
      return this.#history.transact(() => {
        const { id, version } = this.#add({ path, act: 'restore', by, hash: null, bytes: null, content: null }, false);
        this.#history.settle(id, null);
        return this.#history.version(path, version)!;
      });
    }
    throw beingWritten(path);
  }

  #removed(path: string, hash: string): boolean {
    try {
      return this.#files.remove(path, hash);
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return false;
      throw pathFault(path, error);
    }
  }

  /**
   * The newest version. If the file is not recorded, because of too many files or a full disk, a version that is not
   * kept.
   */
  #version(path: string, state: FileState | null, plain: BankWriter): BankVersion {
    const found = state === null ? null : this.#history.version(path, state.version);
    if (found !== null) return found;
    const at = this.#now().toISOString();
    return { path, version: state?.version ?? 0, at, act: 'plain', by: plain, bytes: state?.bytes ?? 0, isKept: false };
  }

  #ownLast(path: string, state: FileState | null, by: BankWriter): boolean {
    const last = state === null ? null : this.#history.version(path, state.version);
    return last !== null && isSame(last.by, by);
  }

  #locks(): readonly BankLock[] {
    return this.#history.locks(this.#now().toISOString());
  }

  /** Null: one of the two contents is not kept. */
  #diff(version: BankVersion): string | null {
    const { path } = version;
    const before = this.#history.versionBefore(path, version.version);
    const contentOf = (one: BankVersion | null) =>
      one === null || one.bytes === null ? null : (this.#history.content(path, one.version) ?? undefined);
    const [old, now] = [contentOf(before), contentOf(version)];
    return old === undefined || now === undefined ? null : unifiedDiff(path, old, now);
  }
}
