/**
 * Records what a change was made on while that can still be read.
 *
 * `keepBases` is a look at a live base: when the workspace is made, then as often as is cheap, and before an apply. What a look
 * sees unchanged needs no record; the time at which it began is noted instead. `settleBases` makes the agent's version the base
 * of what the project has taken over. For each workspace one thread at a time calls them.
 */

import { fstatSync } from 'node:fs';
import type { BytePath } from '../../model/byte-path.ts';
import type { Change, Content, Entry } from '../../model/change.ts';
import {
  hashOf,
  openBelow,
  openContent,
  openRegular,
  type Part,
  readChunk,
  sameBytes,
  using,
} from '../tree/content.ts';
import { Folders } from '../tree/folders.ts';
import { Reader } from '../tree/reader.ts';
import { entryAt, look, unlessGone } from '../tree/tree.ts';
import type { WalkedPath } from '../tree/walk.ts';
import type { WorkspacePlace } from '../workspace.ts';
import { BaseLogWriter, contentInLog, identityOf, isSame, type Kept, readBaseLog, withoutApply } from './base-log.ts';
import type { BaseLog, BaseRecord, Identity } from './change.ts';
import { isHiddenInGit } from './changes.ts';
import { compactBaseLog } from './compact.ts';
import { baseInTree, isEqual, projectIdentity } from './compare.ts';
import { indexFolder } from './index-layer.ts';
import { type BaseFolder, type Clock, clockOf, hidesBase, isProven, tickNs, walkOverlay } from './overlay.ts';
import { pathLimit } from './path-limit.ts';

/** Of larger files only the identity in the project is recorded. */
const keptBytes = 4 * 1024 * 1024;
/** How much of the files in deleted folders one look hashes, to recognise them if the owner writes them again. */
const hashedBytes = 32 * 1024 * 1024;

export function keepBases(place: WorkspacePlace): void {
  if (place.kind !== 'overlay' || !place.live) return;
  const beganNs = BigInt(Date.now()) * 1_000_000n - tickNs;
  withWriter(place, (writer, log) => {
    const clock = clockOf(place, log);
    const limit = pathLimit();
    for (const path of log.records.keys()) limit(path);
    const hiding = new Hiding(place, log);
    let budget = hashedBytes;
    const complete = walkOverlay(place, log, (walked, baseFolder) => {
      const kept = keptOf(place, log, clock, walked, baseFolder);
      hiding.see(walked, baseFolder, kept);
      if (kept === null) return;
      limit(walked.path);
      const isHashed = wantsHash(kept) && kept.entry!.sizeBytes <= budget;
      if (isHashed) budget -= kept.entry!.sizeBytes;
      writer.record(walked.path, isHashed ? { ...kept, sha256: hashIn(walked) } : kept);
    });
    if (!complete) return;
    for (const path of hiding.paths) writer.hides(path);
    writer.looked(beganNs);
  });
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

  see(walked: WalkedPath, { hidden }: BaseFolder, kept: Kept | null): void {
    if (walked.beforeIn === null || hidden || isHiddenInGit(this.#place, walked)) return;
    const { records, hiding } = this.#log;
    if (kept === null && !records.has(walked.path)) this.#moving = true;
    else if (!hiding.has(walked.path) && hidesBase(this.#place, walked)) this.#found.push(walked.path);
  }
}

function withWriter(place: WorkspacePlace, work: (writer: BaseLogWriter, log: BaseLog) => void): void {
  const found = readBaseLog(place);
  const log = compactBaseLog(found) ? readBaseLog(place) : found;
  const writer = new BaseLogWriter(log);
  try {
    work(writer, log);
  } finally {
    writer.close();
  }
}

const unknown: Kept = { origin: 'unknown', entry: null, identity: null, content: null };
const absent: Kept = { origin: 'absent', entry: null, identity: null, content: null };

/** Null: there is nothing to record, or the path changed during the look, and the next look will see it. */
function keptOf(
  place: WorkspacePlace,
  log: BaseLog,
  clock: Clock,
  walked: WalkedPath,
  baseFolder: BaseFolder,
): Kept | null {
  // In a folder that the agent made: the base has nothing there.
  if (walked.beforeIn === null || isHiddenInGit(place, walked)) return null;
  const record = log.records.get(walked.path);
  if (record !== undefined && record.origin !== 'unknown') return completed(record, walked);
  if (record === undefined && baseFolder.hidden && !isPutBack(place, walked))
    return walked.after === null ? null : absent;
  const proven = record === undefined && !baseFolder.hidden && isProven(place, clock, walked, baseFolder);
  if (!proven && !isTheSameNow(place, walked)) return record === undefined ? unknown : null;
  return walked.before === null ? absent : fromProject(walked);
}

/** It equals the base although its folder is hidden: a discard has put it back. */
function isPutBack(place: WorkspacePlace, walked: WalkedPath): boolean {
  return walked.after !== null && walked.before !== null && isTheSameNow(place, walked);
}

/** The project has the agent's version already, whatever was there before. */
function isTheSameNow(place: WorkspacePlace, walked: WalkedPath): boolean {
  const after = walked.after && walked.afterIn && entryAt(walked.afterIn, walked.name, walked.after);
  const base = baseInTree(place, walked, true);
  return base !== undefined && (walked.after === null) === (after === null) && isEqual(place, walked, after, base);
}

/** A file that was deleted when it was recorded exists again: now its content is kept too. */
function completed(record: BaseRecord, walked: WalkedPath): Kept | null {
  const { origin, entry, identity, content } = record;
  if (origin !== 'project' || entry?.type !== 'file' || content !== null || !wantsContent(walked, entry)) return null;
  if (identity === null || walked.before === null || !isSame(identity, identityOf(walked.before))) return null;
  return fromProject(walked);
}

function fromProject(walked: WalkedPath): Kept | null {
  const [before, beforeIn] = [walked.before!, walked.beforeIn!];
  const entry = entryAt(beforeIn, walked.name, before);
  if (entry === null) return null;
  const content = wantsContent(walked, entry) ? readWhole(walked) : null;
  const identity = identityOf(before);
  const now = look(beforeIn, walked.name);
  if (now === null || !isSame(identity, identityOf(now)) || (content === null && wantsContent(walked, entry)))
    return null;
  return { origin: 'project', entry, identity, content };
}

/** Not for files of a deleted folder: they may be many, and nothing is merged with a deletion. */
function wantsContent({ after, whiteout }: WalkedPath, entry: Entry): boolean {
  return entry.type === 'file' && entry.sizeBytes <= keptBytes && (after !== null || whiteout !== null);
}

function wantsHash({ origin, entry, content }: Kept): boolean {
  return origin === 'project' && entry?.type === 'file' && content === null && entry.sizeBytes <= keptBytes;
}

function hashIn(walked: WalkedPath): string | null {
  return reading(walked, (part) => hashOf(part).sha256);
}

function readWhole(walked: WalkedPath): Buffer | null {
  return reading(walked, (part) => {
    const bytes = Buffer.alloc(part.lengthBytes);
    return readChunk(part, 0, bytes) === bytes.length ? bytes : null;
  });
}

/** Null: it is no longer the file that was seen. */
function reading<T>({ before, beforeIn, name }: WalkedPath, read: (part: Part) => T | null): T | null {
  const isIt = ({ fd }: Part) => isSame(identityOf(before!), identityOf(fstatSync(fd, { bigint: true })));
  return using(openRegular(beforeIn!, name), (part) => {
    const found = isIt(part) ? read(part) : null;
    return isIt(part) ? found : null;
  });
}

/**
 * An apply has taken over the agent's version of these paths: from now on it is their base. The content is read
 * again, so the caller makes sure that nothing has changed it since.
 */
export function settleBases(place: WorkspacePlace, changes: readonly Change[], apply: string): void {
  const reader = new Reader();
  try {
    withWriter(place, (writer) => {
      for (const change of changes) {
        // A name that only shows through now equals the base.
        if (place.live && isInIndex(place, change)) continue;
        writer.record(change.path, { ...settled(place, change, reader), apply });
      }
    });
  } finally {
    reader.close();
  }
}

function isInIndex(place: WorkspacePlace, { afterContent }: Change): boolean {
  return afterContent?.at === 'tree' && afterContent.root === indexFolder(place);
}

function settled(place: WorkspacePlace, change: Change, reader: Reader): Kept {
  const { path, after, afterContent, hardLink } = change;
  const none = { origin: 'applied', entry: after, identity: null, content: null, hardLink } as const;
  if (after?.type !== 'file' || afterContent === null) return none;
  if (after.sizeBytes > keptBytes) return { ...none, ...seenIn(place, path, afterContent) };
  const content = reader.read({ from: 'content', content: afterContent, path }, keptBytes);
  return { ...none, content: content?.length === after.sizeBytes ? Buffer.from(content) : null };
}

/** For a file too large to keep: its hash, and the identity of the project's file if that is equal. */
function seenIn(place: WorkspacePlace, path: BytePath, content: Content): Pick<Kept, 'identity' | 'sha256'> {
  const identity = projectIdentity(place, path);
  const seen = using(openContent(content, path), (own) => {
    const same = using(openBelow(place.project, path), (theirs) => sameBytes(own, theirs)) ?? false;
    return { identity: same ? identity : null, sha256: hashOf(own).sha256 };
  });
  return seen ?? { identity: null, sha256: null };
}

/**
 * That apply was undone, and the project is as it was before: what it settled is a change again. This is called for every
 * log that has records of the apply, also those of forks and snapshots.
 */
export function voidApply(place: WorkspacePlace, apply: string): void {
  withWriter(place, (writer, log) => {
    const settledByIt = [...log.records].filter(([, record]) => withoutApply(record, apply) !== record);
    if (settledByIt.length === 0) return;
    writer.takeBack(apply);
    const project = unlessGone(() => new Folders(place.project));
    const reader = new Reader();
    try {
      for (const [path, record] of settledByIt) {
        const left = withoutApply(record, apply);
        const identity = left?.identity && project && sameAgain(project, path, left.identity);
        if (left && identity) writer.record(path, { ...left, identity, content: keptContent(log, path, left, reader) });
      }
    } finally {
      project?.close();
      reader.close();
    }
  });
}

/** An undo restores the same inode, or a copy with the same times from another filesystem. */
function sameAgain(project: Folders, path: BytePath, identity: Identity): Identity | null {
  const stat = project.look(path);
  const now = stat && identityOf(stat);
  const { sizeBytes, mtimeNs } = identity;
  return now && !isSame(identity, now) && isSame({ ...now, sizeBytes, mtimeNs }, now) ? now : null;
}

function keptContent(log: BaseLog, path: BytePath, record: BaseRecord, reader: Reader): Buffer | null {
  const content = contentInLog(log.file, record);
  const read = content && reader.read({ from: 'content', content, path }, keptBytes);
  return read && Buffer.from(read);
}

/** Removes the records of these paths: they equal the base again. */
export function forgetBases(place: WorkspacePlace, isForgotten: (path: BytePath) => boolean): void {
  withWriter(place, (writer, { records }) => {
    for (const path of records.keys()) if (isForgotten(path)) writer.forget(path);
  });
}
