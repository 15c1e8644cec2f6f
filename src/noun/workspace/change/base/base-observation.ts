/**
 * One observation of a live base, which records each changed path while its base can still be read. The caller walks
 * the working copy, and calls `finish` after a walk that missed nothing.
 */
import { statOf } from '../../../../lib/sys/stat.ts';
import type { BytePath } from '../../../../model/byte-path.ts';
import type { Entry } from '../../model/change.ts';
import { type FilePart, hashOf, openRegular, readChunk, using } from '../../tree/content.ts';
import { entryAt, look } from '../../tree/tree.ts';
import type { WalkedPath } from '../../tree/walk.ts';
import type { WorkspacePlace } from '../../workspace.ts';
import type { BaseLog, BaseRecord } from '../change.ts';
import { isHiddenInGit } from '../changes.ts';
import { baseInTree, isEqual } from '../compare.ts';
import { type BaseFolder, type BaseTimes, clockOf, hidesBase, isProven, tickNs } from '../overlay/overlay.ts';
import { pathLimit } from '../path-limit.ts';
import { type BaseLogWriter, identityOf, isSame, isSameFile, type KeptBase, keptBytes } from './base-log.ts';

/** How many bytes in deleted folders one observation hashes, to recognise files that the owner writes again. */
const hashedBytes = 32 * 1024 * 1024;

export class BaseObservation {
  readonly beganNs = BigInt(Date.now()) * 1_000_000n - tickNs;
  readonly #place: WorkspacePlace;
  readonly #log: BaseLog;
  readonly #writer: BaseLogWriter;
  readonly #clock: BaseTimes;
  readonly #hiding: Hiding;
  readonly #limit = pathLimit();
  #budget = hashedBytes;

  constructor(place: WorkspacePlace, log: BaseLog, writer: BaseLogWriter) {
    this.#place = place;
    this.#log = log;
    this.#writer = writer;
    this.#clock = clockOf(place, log);
    this.#hiding = new Hiding(place, log);
    for (const path of log.records.keys()) this.#limit(path);
  }

  /** Returns the record that was written; null: none. */
  see(walked: WalkedPath, baseFolder: BaseFolder): BaseRecord | null {
    const kept = keptOf(this.#place, this.#log, this.#clock, walked, baseFolder);
    this.#hiding.see(walked, baseFolder, kept);
    if (kept === null) return null;
    this.#limit(walked.path);
    const isHashed = wantsHash(kept) && kept.entry!.sizeBytes <= this.#budget;
    if (isHashed) this.#budget -= kept.entry!.sizeBytes;
    return this.#writer.record(walked.path, isHashed ? { ...kept, sha256: hashIn(walked) } : kept);
  }

  finish(): void {
    for (const path of this.#hiding.paths) this.#writer.hides(path);
    this.#writer.noteObserved(this.beganNs);
  }
}

/** Paths that hide what the base has below them. They are noted only if every path below them has a record. */
class Hiding {
  readonly #place: WorkspacePlace;
  readonly #log: BaseLog;
  readonly #found: BytePath[] = [];
  #moving = false;

  constructor(place: WorkspacePlace, log: BaseLog) {
    this.#place = place;
    this.#log = log;
  }

  get paths(): readonly BytePath[] {
    return this.#moving ? [] : this.#found;
  }

  see(walked: WalkedPath, { hidden }: BaseFolder, kept: KeptBase | null): void {
    if (walked.beforeIn === null || hidden || isHiddenInGit(this.#place, walked)) return;
    const { records, hiding } = this.#log;
    if (kept === null && !records.has(walked.path)) this.#moving = true;
    else if (!hiding.has(walked.path) && hidesBase(this.#place, walked)) this.#found.push(walked.path);
  }
}

const unknown: KeptBase = { origin: 'unknown', entry: null, identity: null, content: null };
const absent: KeptBase = { origin: 'absent', entry: null, identity: null, content: null };

/** Null: there is nothing to record, or the path changed meanwhile, and the next observation will see it. */
function keptOf(
  place: WorkspacePlace,
  log: BaseLog,
  clock: BaseTimes,
  walked: WalkedPath,
  baseFolder: BaseFolder,
): KeptBase | null {
  // The path is in a folder that the agent made, where the base has nothing.
  if (walked.beforeIn === null || isHiddenInGit(place, walked)) return null;
  const record = log.records.get(walked.path);
  if (record !== undefined && record.origin !== 'unknown') return completed(record, walked);
  if (record === undefined && baseFolder.hidden && !isPutBack(place, walked))
    return walked.after === null ? null : absent;
  const proven = record === undefined && !baseFolder.hidden && isProven(place, clock, walked, baseFolder);
  if (!proven && !isTheSameNow(place, walked)) return record === undefined ? unknown : null;
  return walked.before === null ? absent : fromProject(walked);
}

/** True: the path equals the base although its folder is hidden, so a discard has put it back. */
function isPutBack(place: WorkspacePlace, walked: WalkedPath): boolean {
  return walked.after !== null && walked.before !== null && isTheSameNow(place, walked);
}

/** True: the project has the agent's version already, whatever was there before. */
function isTheSameNow(place: WorkspacePlace, walked: WalkedPath): boolean {
  const after = walked.after && walked.afterIn && entryAt(walked.afterIn, walked.name, walked.after);
  const base = baseInTree(place, walked, true);
  return base !== undefined && (walked.after === null) === (after === null) && isEqual(place, walked, after, base);
}

/** A file that was deleted when it was recorded exists again: now its content is kept too. */
function completed(record: BaseRecord, walked: WalkedPath): KeptBase | null {
  const { origin, entry, identity, content } = record;
  if (origin !== 'project' || entry?.type !== 'file' || content !== null || !wantsContent(walked, entry)) return null;
  if (identity === null || walked.before === null || !isSame(identity, identityOf(walked.before))) return null;
  return fromProject(walked);
}

function fromProject(walked: WalkedPath): KeptBase | null {
  const [before, beforeIn] = [walked.before!, walked.beforeIn!];
  const entry = entryAt(beforeIn, walked.name, before);
  if (entry === null) return null;
  const content = wantsContent(walked, entry) ? readWhole(walked) : null;
  const now = look(beforeIn, walked.name);
  if (now === null || !isSameFile(before, now) || (content === null && wantsContent(walked, entry))) return null;
  return { origin: 'project', entry, identity: identityOf(before), content };
}

/** False for files of a deleted folder: they may be many, and nothing is merged with a deletion. */
function wantsContent({ after, whiteout }: WalkedPath, entry: Entry): boolean {
  return entry.type === 'file' && entry.sizeBytes <= keptBytes && (after !== null || whiteout !== null);
}

function wantsHash({ origin, entry, content }: KeptBase): boolean {
  return origin === 'project' && entry?.type === 'file' && content === null && entry.sizeBytes <= keptBytes;
}

function hashIn(walked: WalkedPath): string | null {
  return reading(walked, (part) => hashOf(part).sha256);
}

function readWhole(walked: WalkedPath): Buffer | null {
  return reading(walked, (part) => {
    const bytes = Buffer.allocUnsafe(part.lengthBytes);
    return readChunk(part, 0, bytes) === bytes.length ? bytes : null;
  });
}

/** Null: the path no longer has the file that was seen. */
function reading<T>({ before, beforeIn, name }: WalkedPath, read: (part: FilePart) => T | null): T | null {
  const isIt = ({ fd }: FilePart) => isSameFile(before!, statOf(fd));
  return using(openRegular(beforeIn!, name), (part) => {
    const found = isIt(part) ? read(part) : null;
    return isIt(part) ? found : null;
  });
}
