/**
 * The file `base.log` records what paths were before an agent changed them, for a base that its owner may change too.
 * Each record is one line of JSON, followed by as many bytes of content as it says and a newline. Of several records
 * for a path the last counts. An incomplete last record is ignored, and cut off before the next write. The file grows,
 * and is rewritten (`compact.ts`) when it is much longer than its content. The writer holds the lock of the workspace.
 */

import { hash } from 'node:crypto';
import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../../../../lib/file/file.ts';
import { openLog } from '../../../../lib/file/rotate.ts';
import type { Stat } from '../../../../lib/sys/stat.ts';
import type { BytePath } from '../../../../model/byte-path.ts';
import type { Content, FileIdentity } from '../../model/change.ts';
import type { WorkspacePlace } from '../../workspace.ts';
import type { BaseLog, BaseOrigin, BaseRecord } from '../change.ts';
import { LogLines } from './log-lines.ts';

interface Header extends Omit<BaseRecord, 'origin' | 'content' | 'previous'> {
  readonly path: BytePath;
  readonly origin: BaseOrigin | 'none';
  /** Null: the content was not kept. */
  readonly lengthBytes: number | null;
}

/** Every change before this time has a record; the time is taken before an observation begins. */
interface ObservationNote {
  readonly lookedNs: string;
}

/** The apply was undone, so its records no longer count. */
interface Voided {
  readonly voidedApply: string;
}

/** The agent's entry hid what the base has below this path, and every path that was there then has a record. */
interface Hiding {
  readonly hides: BytePath;
}

type Line = Header | ObservationNote | Voided | Hiding;

function logFile(place: WorkspacePlace): string {
  return join(place.folder, 'base.log');
}

export function identityOf(stat: Stat): FileIdentity {
  const { dev, ino, size, mtimeNs, ctimeNs } = stat;
  return { dev: `${dev}`, ino: `${ino}`, sizeBytes: `${size}`, mtimeNs: `${mtimeNs}`, ctimeNs: `${ctimeNs}` };
}

export function isSame(one: FileIdentity, other: FileIdentity): boolean {
  if (one.ino !== other.ino || one.mtimeNs !== other.mtimeNs || one.ctimeNs !== other.ctimeNs) return false;
  return one.sizeBytes === other.sizeBytes && one.dev === other.dev;
}

/** Like `isSame`, for stats. */
export function isSameFile(one: Stat, other: Stat): boolean {
  if (one.ino !== other.ino || one.mtimeNs !== other.mtimeNs || one.ctimeNs !== other.ctimeNs) return false;
  return one.size === other.size && one.dev === other.dev;
}

export function contentInLog(file: string, record: BaseRecord): Content | null {
  // The writer never leaves the hash out: content without one is refused when it is read.
  return record.content && { at: 'log', file, ...record.content, sha256: record.sha256 ?? '' };
}

export function readBaseLog(place: WorkspacePlace): BaseLog {
  const file = logFile(place);
  const records = new Map<BytePath, BaseRecord>();
  const fd = openIfThere(file);
  const hiding = new Set<BytePath>();
  if (fd === null) return { file, records, hiding, lookedNs: null, wholeBytes: 0, observationOffset: null };
  try {
    return { file, records, hiding, ...readRecords(fd, records, hiding) };
  } finally {
    closeSync(fd);
  }
}

export type BaseLogEnd = Pick<BaseLog, 'file' | 'wholeBytes' | 'observationOffset'>;

/** The end of a log that is complete and has this length; null: it has another length by now. */
export function endOfLog(place: WorkspacePlace, wholeBytes: number): BaseLogEnd | null {
  const file = logFile(place);
  const isIt = statSync(file, { throwIfNoEntry: false })?.size === wholeBytes;
  return isIt ? { file, wholeBytes, observationOffset: null } : null;
}

function openIfThere(file: string): number | null {
  try {
    return openSync(file, 'r');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    throw error;
  }
}

type Extent = Pick<BaseLog, 'lookedNs' | 'wholeBytes' | 'observationOffset'>;

function readRecords(fd: number, records: Map<BytePath, BaseRecord>, hiding: Set<BytePath>): Extent {
  const reader = new LogLines(fd);
  let [lookedNs, observationOffset]: [bigint | null, number | null] = [null, null];
  for (let wholeBytes = 0; ; wholeBytes = reader.position) {
    const header = parse(reader.line());
    if (header === null) return { lookedNs, wholeBytes, observationOffset };
    if ('lookedNs' in header) {
      [lookedNs, observationOffset] = [BigInt(header.lookedNs), wholeBytes];
      continue;
    }
    observationOffset = null;
    if ('voidedApply' in header) {
      takeBack(records, header.voidedApply);
      continue;
    }
    if ('hides' in header) {
      hiding.add(header.hides);
      continue;
    }
    if (header.origin === 'none') hiding.delete(header.path);
    const offset = reader.position;
    if (header.lengthBytes !== null && !reader.skip(header.lengthBytes))
      return { lookedNs, wholeBytes, observationOffset };
    keep(records, header, offset);
  }
}

function keep(records: Map<BytePath, BaseRecord>, header: Header, offset: number): void {
  const { path, origin, entry, identity, sha256, lengthBytes, apply = null } = header;
  if (origin === 'none') records.delete(path);
  else {
    const content = lengthBytes === null ? null : { offset, lengthBytes };
    const previous = origin === 'applied' ? (records.get(path) ?? null) : null;
    records.set(path, { origin, entry, identity, sha256, content, apply, previous });
  }
}

function takeBack(records: Map<BytePath, BaseRecord>, apply: string): void {
  for (const [path, record] of records) {
    const left = withoutApply(record, apply);
    if (left === null) records.delete(path);
    else if (left !== record) records.set(path, left);
  }
}

/** Removes the record of an apply from the history of a path; a later apply may have followed it. */
export function withoutApply(record: BaseRecord, apply: string): BaseRecord | null {
  const previous = record.previous && withoutApply(record.previous, apply);
  if (record.apply === apply) return previous;
  return previous === record.previous ? record : { ...record, previous };
}

function parse(line: string | null): Line | null {
  if (line === null) return null;
  try {
    const header = JSON.parse(line) as Line;
    if ('lookedNs' in header) return /^\d+$/.test(header.lookedNs) ? header : null;
    if ('voidedApply' in header || 'hides' in header) return header;
    return isHeader(header) ? header : null;
  } catch {
    return null;
  }
}

function isHeader({ path, origin, lengthBytes }: Header): boolean {
  return typeof path === 'string' && typeof origin === 'string' && (lengthBytes === null || lengthBytes >= 0);
}

/** What to record about one path. */
export interface KeptBase extends Omit<BaseRecord, 'content' | 'sha256' | 'apply' | 'previous'> {
  readonly content: Buffer | null;
  readonly apply?: string | null;
  /** Hash of the content; absent or null: it is not known yet. */
  readonly sha256?: string | null;
}

/** The content of larger files is not recorded, only an identity or a hash. */
export const keptBytes = 4 * 1024 * 1024;

const flushBytes = 16 * 1024 * 1024;

/** Writes records one after the other and makes them durable together. */
export class BaseLogWriter {
  readonly #fd: number;
  #pieces: Buffer[] = [];
  #pendingBytes = 0;
  /** The offset of the next piece in the file. */
  #positionBytes: number;
  #wrote = false;
  #isOnlyObserved = false;
  readonly #observationOffset: number | null;

  constructor(log: BaseLogEnd) {
    this.#observationOffset = log.observationOffset;
    this.#positionBytes = log.wholeBytes;
    this.#fd = openLog(log.file);
    if (fstatSync(this.#fd).size > log.wholeBytes) ftruncateSync(this.#fd, log.wholeBytes);
  }

  /** Returns the record as a reader of the log finds it, without `previous`. */
  record(path: BytePath, kept: KeptBase): BaseRecord {
    const { origin, entry, identity, content } = kept;
    const sha256 = kept.sha256 ?? (content && hash('sha256', content, 'hex'));
    const { apply = null } = kept;
    this.#header({ path, origin, entry, identity, sha256, lengthBytes: content?.length ?? null, apply });
    const offset = this.#positionBytes;
    if (content !== null) this.#push(content, newline);
    const inLog = content && { offset, lengthBytes: content.length };
    return { origin, entry, identity, sha256, content: inLog, apply, previous: null };
  }

  forget(path: BytePath): void {
    const nothing = { entry: null, identity: null, sha256: null, lengthBytes: null, apply: null };
    this.#header({ path, origin: 'none', ...nothing });
  }

  takeBack(apply: string): void {
    this.#push(Buffer.from(`${JSON.stringify({ voidedApply: apply } satisfies Voided)}\n`));
  }

  hides(path: BytePath): void {
    this.#push(Buffer.from(`${JSON.stringify({ hides: path } satisfies Hiding)}\n`));
  }

  /**
   * Notes the time of an observation. Replaces the last note if nothing new was seen, so that frequent observations do
   * not fill the disk.
   */
  noteObserved(lookedNs: bigint): void {
    const isNews = this.#wrote || this.#pieces.length > 0;
    if (!isNews && this.#observationOffset !== null) ftruncateSync(this.#fd, this.#observationOffset);
    this.#flush();
    // If a power cut loses only the note, fewer bases can be proven, but none is wrong.
    this.#isOnlyObserved = !this.#wrote;
    this.#push(Buffer.from(`${JSON.stringify({ lookedNs: `${lookedNs}` } satisfies ObservationNote)}\n`));
  }

  close(): void {
    try {
      this.#flush();
      if (this.#wrote && !this.#isOnlyObserved) fdatasyncSync(this.#fd);
    } finally {
      closeSync(this.#fd);
    }
  }

  #header(header: Header): void {
    this.#push(Buffer.from(`${JSON.stringify(header)}\n`));
  }

  #push(...pieces: Buffer[]): void {
    for (const { length } of pieces) {
      this.#pendingBytes += length;
      this.#positionBytes += length;
    }
    this.#pieces.push(...pieces);
    if (this.#pendingBytes >= flushBytes) this.#flush();
  }

  #flush(): void {
    const bytes = Buffer.concat(this.#pieces);
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#fd, bytes, done);
    this.#wrote ||= bytes.length > 0;
    [this.#pieces, this.#pendingBytes] = [[], 0];
  }
}

const newline = Buffer.from('\n');
