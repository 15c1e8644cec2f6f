/**
 * The memory bank of a user: files in a folder that its sandboxes have mounted, and the history of these files outside of
 * that folder. The rules that the tests prove are in docs/formats/memory-bank.md.
 *
 *   open → (read, write, lock, scan, …)* → close
 *
 * The folder belongs to agents. They write there without this code, at any time and anything: links, FIFOs, names of any
 * bytes. So every name is resolved in an open folder and no link is followed, every read is bounded, and what is found there is never
 * believed to be what was written. The history is in a database that no sandbox can reach.
 *
 * A write is recorded first, then the file is replaced, then the record is settled; it is acknowledged after that. A crash leaves the file
 * as it was, or replaced and recorded. Where a full disk has no space to settle the record, the next call with space settles it. `scan`, and every call about a file, compares the file with its record and records a version for each
 * plain change it finds.
 *
 * Versions count from 1 for each file. A write with an expected version is refused if the file has another one, plain
 * changes included. A lock is respected by writes of other writers until it expires; plain writes know nothing of locks.
 *
 * A full history drops versions between two others of the same writer in the same file, the oldest first. It never drops
 * what another writer made of a file, so no writer removes the work of others from the history by writing a lot; where nothing can be
 * dropped, writes are refused.
 *
 * Faults: `not_found`, `invalid`, `conflict` (version, lock, or it exists), `denied` (no regular file there), `exhausted` (size, quota, disk
 * full), `corrupt`, `unavailable`.
 */
import type { BankLimits, BankLock, BankVersion, BankWriter } from '../model/bank.ts';

export interface BankPlace {
  /** The folder that sandboxes have. */
  readonly files: string;
  /** Holds the history and what is being written. */
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

/** Versions from the newest. */
export interface LogQuery {
  /** A file, or a folder with all that is in it; null: all files. */
  readonly path: string | null;
  readonly limit: number;
  readonly diffs: boolean;
}

export interface LoggedVersion extends BankVersion {
  /** From the version before, where both are kept. */
  readonly diff?: string;
}

export interface Scanned {
  readonly changes: number;
  /** True: not everything was looked at, because there is too much. */
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
   * `plain`: the writer of a plain change that is found in the file; the same below. Version 0: the content is not recorded, because there
   * are too many files or the disk is full.
   */
  read(path: string, plain: BankWriter): Promise<BankText>;
  /** Durable when it resolves. The content that the file has already makes no new version. */
  write(change: BankChange, plain: BankWriter): Promise<BankVersion>;
  lock(path: string, by: BankWriter, seconds: number): Promise<BankLock>;
  /** False: this writer had none. */
  unlock(path: string, by: BankWriter): Promise<boolean>;
  log(query: LogQuery): Promise<readonly LoggedVersion[]>;
  /** Makes the content of an earlier version the newest one; of a removal too. Locks do not count. */
  restore(path: string, version: number, by: BankWriter, plain: BankWriter): Promise<BankVersion>;
  /** Records the plain changes of all files. */
  scan(plain: BankWriter): Promise<Scanned>;
  /** When the last complete scan was; null: never. */
  scannedAt(): Promise<string | null>;
  status(): Promise<BankStatus>;
  close(): Promise<void>;
}

export interface Banks {
  /** One that is open already is answered with as it is. */
  open(place: BankPlace, limits: BankLimits): Promise<Bank>;
  /** Removes the history for good; the files are not touched. A bank that is open is closed. */
  erase(place: BankPlace): Promise<void>;
  /** Closes one of them, if it is open. */
  release(place: BankPlace): Promise<void>;
  close(): Promise<void>;
}
