/**
 * A bank in memory, for tests of code that uses banks. `plain` stands for the folder that agents write without tools.
 */

import { Fault } from '../../../model/fault.ts';
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
import type { Bank, BankChange, LogQuery } from './bank.ts';
import { checkExpected, isSame, noFile, noVersion, requireUnlocked, tooLarge, tooMany } from './bank-check.ts';
import { hashOf } from './files/files.ts';
import type { FileState } from './history/history.ts';

interface Stored {
  readonly version: BankVersion;
  readonly content: string | null;
}

export class FakeBank implements Bank {
  readonly plain = new Map<string, string>();
  readonly #limits: BankLimits;
  readonly #now: () => Date;
  readonly #versions: Stored[] = [];
  #locks: BankLock[] = [];
  #scannedAt: string | null = null;

  constructor(limits: BankLimits, now: () => Date) {
    this.#limits = limits;
    this.#now = now;
  }

  projects = async () =>
    [...new Set([...this.plain.keys()].map((path) => path.split('/')[0]!).concat(sharedProject))].sort();

  files = async (project: string) => {
    checkBankProject(project);
    return [...this.plain]
      .filter(([path]) => path.startsWith(`${project}/`))
      .sort()
      .map(([path, content]) => ({
        path,
        bytes: Buffer.byteLength(content),
        version: this.#last(path)?.version.version ?? 0,
      }));
  };

  read = async (path: string, plain: BankWriter) => {
    this.#notice(checkBankPath(path), plain);
    const content = this.plain.get(path);
    if (content === undefined) throw noFile(path);
    return { content, version: this.#last(path)!.version };
  };

  write = async ({ path, content, expected, by }: BankChange, plain: BankWriter) => {
    checkBankPath(path);
    if (Buffer.byteLength(content) > this.#limits.fileBytes)
      throw tooLarge(path, Buffer.byteLength(content), this.#limits);
    requireUnlocked(this.#held(), path, by);
    this.#notice(path, plain);
    const last = this.#last(path);
    const isOwn = last !== undefined && isSame(last.version.by, by);
    if (!checkExpected(path, stateOf(last), expected, hashOf(Buffer.from(content)), isOwn)) return last!.version;
    if (last?.content === content) return last.version;
    if (last === undefined && new Set(this.#versions.map((one) => one.version.path)).size >= this.#limits.files)
      throw tooMany(this.#limits);
    return this.#add(path, 'write', by, content);
  };

  lock = async (path: string, by: BankWriter, seconds: number) => {
    checkBankPath(path);
    if (!(seconds >= 1 && seconds <= lockSeconds.most)) throw new Fault('invalid', 'too long');
    const locks = this.#held();
    requireUnlocked(locks, path, by);
    const others = locks.filter((one) => one.path !== path);
    if (others.filter((one) => isSame(one.by, by)).length >= this.#limits.locks)
      throw new Fault('exhausted', 'too many locks');
    const lock = { path, by, until: new Date(this.#now().getTime() + seconds * 1000).toISOString() };
    this.#locks = [...others, lock];
    return lock;
  };

  unlock = async (path: string, by: BankWriter) => {
    const before = this.#held();
    this.#locks = before.filter((one) => one.path !== path || !isSame(one.by, by));
    return this.#locks.length < before.length;
  };

  log = async ({ path, limit }: LogQuery) =>
    this.#versions
      .map(({ version }) => version)
      .filter((one) => path === null || one.path === path || one.path.startsWith(`${path}/`))
      .reverse()
      .slice(0, limit);

  restore = async (path: string, version: number, by: BankWriter, plain: BankWriter) => {
    const found = this.#versions.find(({ version: one }) => one.path === path && one.version === version);
    if (found === undefined) throw noVersion(path, version);
    this.#notice(path, plain);
    const last = this.#last(path)!;
    return last.content === found.content ? last.version : this.#add(path, 'restore', by, found.content);
  };

  scan = async (plain: BankWriter) => {
    const before = this.#versions.length;
    for (const path of new Set([...this.plain.keys(), ...this.#versions.map((one) => one.version.path)]))
      this.#notice(path, plain);
    this.#scannedAt = this.#now().toISOString();
    return { changes: this.#versions.length - before, isCut: false };
  };

  scannedAt = async () => this.#scannedAt;

  status = async () => {
    const bytes = this.#versions.reduce((sum, { content }) => sum + Buffer.byteLength(content ?? ''), 0);
    const files = new Set(this.#versions.map((one) => one.version.path)).size;
    return { files, versions: this.#versions.length, historyBytes: bytes, locks: this.#held(), setAside: [] };
  };

  close = async () => {};

  #held(): BankLock[] {
    const now = this.#now().toISOString();
    this.#locks = this.#locks.filter(({ until }) => until > now);
    return this.#locks;
  }

  #last(path: string): Stored | undefined {
    return this.#versions.findLast((one) => one.version.path === path);
  }

  #notice(path: string, plain: BankWriter): void {
    const content = this.plain.get(path) ?? null;
    if ((this.#last(path)?.content ?? null) !== content) this.#add(path, 'plain', plain, content);
  }

  #add(path: string, act: BankVersion['act'], by: BankWriter, content: string | null): BankVersion {
    const at = this.#now().toISOString();
    const bytes = content === null ? null : Buffer.byteLength(content);
    const number = (this.#last(path)?.version.version ?? 0) + 1;
    const version: BankVersion = { path, version: number, at, act, by, bytes, isKept: content !== null };
    this.#versions.push({ version, content });
    if (content === null) this.plain.delete(path);
    else this.plain.set(path, content);
    return version;
  }
}

function stateOf(last: Stored | undefined): FileState | null {
  if (last === undefined) return null;
  const { path, version, bytes } = last.version;
  return {
    path,
    version,
    bytes,
    hash: last.content === null ? null : hashOf(Buffer.from(last.content)),
    stamp: null,
  };
}
