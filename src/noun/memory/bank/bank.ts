/**
 * The memory bank of a user: files in a folder that its sandboxes have mounted, and the history of these files outside of
 * that folder. The rules that the tests prove are in docs/formats/memory-bank.md.
 *
 *   open → (read, write, lock, scan, …)* → close
 *
 * No other noun gets a `Bank`. `app/bank/live-banks.ts` opens them, and scans them before and after a sandbox has the
 * folder; users restore versions by `app/bank/user-bank.ts`, sandboxes have the tools of `app/bank/sandbox-bank.ts`.
 *
 * The folder belongs to agents. They write there without this code, at any time and anything: links, FIFOs, names of
 * any bytes. So every name is resolved in an open folder and no link is followed, every read is bounded, and the
 * content of a file is never assumed to be the content that was written. The history is in a database that no sandbox
 * can reach.
 *
 * A write is first recorded as pending, then the file is replaced, then the record is settled; after that the write is
 * acknowledged. A crash leaves the file either unchanged, or replaced and recorded. If a full disk has no space to
 * settle the record, the next call that has space settles it. `scan`, and every call about a file, compares the file
 * with its record and records a version for each plain change, which is one that was not made by this code.
 *
 * Versions count from 1 for each file. A write with an expected version is refused if the file has another one, plain
 * changes included. A lock makes writes of other writers fail until it expires; plain writes ignore locks.
 *
 * A full history drops versions between two others of the same writer in the same file, the oldest first. It never
 * drops what another writer made of a file, so no writer removes the work of others from the history by writing a lot.
 * If nothing can be dropped, writes are refused.
 *
 * Faults: `not_found`, `invalid`, `conflict` (version, lock, or it exists), `denied` (no regular file there), `exhausted` (size, quota, disk
 * full), `corrupt`, `unavailable`.
 */
import type { BankLimits, BankLock, BankVersion, BankWriter } from '../model/bank.ts';

export interface BankPlace {
  /** The folder that sandboxes have mounted. */
  readonly files: string;
  /** Holds the history, and files while they are being written. */
  readonly folder: string;
  /** Files of the bank belong to this id; null: to the daemon. */
  readonly ownerId: number | null;
}

/** `absent`: only if there is no such file; `present`: only if there is one, of any version. */
export type Expected = number | 'absent' | 'present' | 'any';

export interface BankChange {
  readonly path: string;
  readonly content: string;
  readonly expected: Expected;
  readonly by: BankWriter;
}

export interface BankFile {
  readonly path: string;
  readonly bytes: number;
  /** 0: no version of it was recorded, because there are too many files. */
  readonly version: number;
}

export interface BankText {
  readonly content: string;
  readonly version: BankVersion;
}

/** Selects versions, the newest first. */
export interface LogQuery {
  /** A file, or a folder with all that is in it; null: all files. */
  readonly path: string | null;
  readonly limit: number;
  readonly diffs: boolean;
}

export interface LoggedVersion extends BankVersion {
  /** The difference from the version before, if both contents are kept. */
  readonly diff?: string;
}

export interface Scanned {
  readonly changes: number;
  /** True: some files were not compared, because there are too many. */
  readonly isCut: boolean;
}

export interface BankStatus {
  readonly files: number;
  readonly versions: number;
  readonly historyBytes: number;
  readonly locks: readonly BankLock[];
  readonly setAside: readonly string[];
}

export interface Bank {
  projects(): Promise<readonly string[]>;
  /** Regular files in a folder and below it. */
  files(project: string): Promise<readonly BankFile[]>;
  /**
   * `plain` is recorded as the writer of a plain change that is found in the file, here and in the other methods.
   * Version 0: the content is not recorded, because there are too many files or the disk is full.
   */
  read(path: string, plain: BankWriter): Promise<BankText>;
  /** Durable when it resolves. If the file has this content already, there is no new version. */
  write(change: BankChange, plain: BankWriter): Promise<BankVersion>;
  lock(path: string, by: BankWriter, seconds: number): Promise<BankLock>;
  /** False: this writer had no lock on the file. */
  unlock(path: string, by: BankWriter): Promise<boolean>;
  log(query: LogQuery): Promise<readonly LoggedVersion[]>;
  /** Makes an earlier version the newest one; if that was a removal, the file is removed. Locks are ignored. */
  restore(path: string, version: number, by: BankWriter, plain: BankWriter): Promise<BankVersion>;
  /** Records the plain changes of all files. */
  scan(plain: BankWriter): Promise<Scanned>;
  /** The time of the last complete scan; null: there was none. */
  scannedAt(): Promise<string | null>;
  status(): Promise<BankStatus>;
  close(): Promise<void>;
}

export interface Banks {
  /** A bank that is open already is returned unchanged. */
  open(place: BankPlace, limits: BankLimits): Promise<Bank>;
  /** Removes the history for good; the files are not touched. A bank that is open is closed. */
  erase(place: BankPlace): Promise<void>;
  /** Closes the bank at the place, if it is open. */
  release(place: BankPlace): Promise<void>;
  close(): Promise<void>;
}
