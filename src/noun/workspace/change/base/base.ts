/**
 * Records the base of each change while it can still be read.
 *
 * `keepBases` observes a live base: when the workspace is made, then as often as is cheap, and before an apply. A path
 * that an observation finds unchanged needs no record; the observation notes the time at which it began.
 * `adoptAgentVersions` makes the agent's version the base of the paths that the project has taken over. Only one thread
 * at a time may call them for a workspace.
 */

import { statSync } from 'node:fs';
import type { BytePath } from '../../../../model/byte-path.ts';
import type { Change, Content, FileIdentity } from '../../model/change.ts';
import { hashOf, openBelow, openContent, sameBytes, using } from '../../tree/content.ts';
import { Folders } from '../../tree/folders.ts';
import { Reader, reading } from '../../tree/reader.ts';
import { unlessGone } from '../../tree/tree.ts';
import type { WalkedPath } from '../../tree/walk.ts';
import type { WorkspacePlace } from '../../workspace.ts';
import type { BaseLog, BaseRecord, Changes, Skipping } from '../change.ts';
import { ChangeList, exceptApplied, listChanges } from '../changes.ts';
import { projectIdentity } from '../compare.ts';
import { indexFolder } from '../overlay/index-layer.ts';
import { type BaseFolder, clockOf, walkOverlay, walkOverlayBy } from '../overlay/overlay.ts';
import {
  type BaseLogEnd,
  BaseLogWriter,
  contentInLog,
  endOfLog,
  identityOf,
  isSame,
  type KeptBase,
  keptBytes,
  readBaseLog,
  withoutApply,
} from './base-log.ts';
import { BaseObservation } from './base-observation.ts';
import { compactBaseLog } from './compact.ts';

export function keepBases(place: WorkspacePlace): void {
  if (place.kind !== 'overlay' || !place.live) return;
  withWriter(place, (writer, log) => {
    const observation = new BaseObservation(place, log, writer);
    if (walkOverlay(place, log, (walked, baseFolder) => observation.see(walked, baseFolder))) observation.finish();
  });
}

/** Observes the base, and lists the changes as they are afterwards, in one walk. */
export function keepAndList(place: WorkspacePlace, skipping?: () => Skipping): Changes {
  if (place.kind !== 'overlay' || !place.live) return listChanges(place, skipping?.());
  let listed: Changes | null = null;
  const logBytes = withWriter(place, (writer, log) => {
    const observation = new BaseObservation(place, log, writer);
    const records = new Map(log.records);
    const after: BaseLog = { ...log, records, lookedNs: observation.beganNs };
    const list = new ChangeList(place, after, clockOf(place, after));
    const visit = (walked: WalkedPath, [before, now]: readonly BaseFolder[]) => {
      const record = observation.see(walked, before!);
      if (record !== null) records.set(walked.path, record);
      list.visitOverlay(walked, now!);
    };
    const skips = skipping?.();
    const complete = walkOverlayBy(place, [log, after], visit, skips && exceptApplied(log, skips));
    if (!complete) return;
    observation.finish();
    listed = { ...list.finish(), skipped: skips?.found ?? [] };
  });
  // Null: something was moved during the walk.
  return listed === null ? listChanges(place, skipping?.()) : { ...(listed as Changes), logBytes };
}

/** Returns the length of the log after `work`. */
function withWriter(place: WorkspacePlace, work: (writer: BaseLogWriter, log: BaseLog) => void): number {
  const found = readBaseLog(place);
  const log = compactBaseLog(found) ? readBaseLog(place) : found;
  return writing(log, (writer) => work(writer, log));
}

function writing(log: BaseLogEnd, work: (writer: BaseLogWriter) => void): number {
  const writer = new BaseLogWriter(log);
  try {
    work(writer);
  } finally {
    writer.close();
  }
  return statSync(log.file).size;
}

export interface AdoptOptions {
  /** May still remember the applied content. */
  readonly reader: Reader;
  /** The length of the log, if the caller knows that it is complete, so that it need not be read. */
  readonly logBytes?: number | undefined;
}

/**
 * Makes the agent's version of these paths their base, after an apply has taken it over. The content may be read again,
 * so the caller makes sure that nothing has changed it since.
 */
export function adoptAgentVersions(
  place: WorkspacePlace,
  changes: readonly Change[],
  apply: string,
  options?: AdoptOptions,
): void {
  if (options) adopt(place, changes, apply, options);
  else reading((reader) => adopt(place, changes, apply, { reader }));
}

function adopt(
  place: WorkspacePlace,
  changes: readonly Change[],
  apply: string,
  { reader, logBytes }: AdoptOptions,
): void {
  const index = indexFolder(place);
  const write = (writer: BaseLogWriter) => {
    for (const change of changes) {
      // At a path that only shows through, the base has the content after the apply.
      if (place.live && isIn(index, change)) continue;
      writer.record(change.path, { ...adoptedVersion(place, change, reader), apply });
    }
  };
  const end = logBytes === undefined ? null : endOfLog(place, logBytes);
  if (end) writing(end, write);
  else withWriter(place, write);
}

function isIn(index: string, { afterContent }: Change): boolean {
  return afterContent?.at === 'tree' && afterContent.root === index;
}

function adoptedVersion(place: WorkspacePlace, change: Change, reader: Reader): KeptBase {
  const { path, after, afterContent } = change;
  const none = { origin: 'applied', entry: after, identity: null, content: null } as const;
  if (after?.type !== 'file' || afterContent === null) return none;
  if (after.sizeBytes > keptBytes) return { ...none, ...seenIn(place, path, afterContent) };
  const source = { from: 'content', content: afterContent, path } as const;
  const copied = reader.remembered(source);
  if (copied) return { ...none, content: copied.bytes, sha256: copied.sha256 };
  const content = reader.read(source, keptBytes);
  return { ...none, content: content?.length === after.sizeBytes ? Buffer.from(content) : null };
}

/** For a file too large to keep: its hash, and the identity of the project's file if that is equal. */
function seenIn(place: WorkspacePlace, path: BytePath, content: Content): Pick<KeptBase, 'identity' | 'sha256'> {
  const identity = projectIdentity(place, path);
  const seen = using(openContent(content, path), (own) => {
    const same = using(openBelow(place.project, path), (original) => sameBytes(own, original)) ?? false;
    return { identity: same ? identity : null, sha256: hashOf(own).sha256 };
  });
  return seen ?? { identity: null, sha256: null };
}

/**
 * Drops the records of an apply that was undone, so that its paths are changes again; the project is as it was before.
 * This is called for every log that has records of the apply, also those of forks and snapshots.
 */
export function voidApply(place: WorkspacePlace, apply: string): void {
  withWriter(place, (writer, log) => {
    const adoptedByIt = [...log.records].filter(([, record]) => withoutApply(record, apply) !== record);
    if (adoptedByIt.length === 0) return;
    writer.takeBack(apply);
    const project = unlessGone(() => new Folders(place.project));
    const reader = new Reader();
    try {
      for (const [path, record] of adoptedByIt) {
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
function sameAgain(project: Folders, path: BytePath, identity: FileIdentity): FileIdentity | null {
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
