/**
 * Walks the upper layer of an overlay: entries that the agent wrote, character devices 0/0 where it deleted something, and
 * marks on folders that hide everything the base has there. Only marks that the kernel wrote count; an agent can write
 * marks with the other prefix.
 */

import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Anchor } from '../../../../lib/file/anchor.ts';
import { type Stat, statOf } from '../../../../lib/sys/stat.ts';
import { fileHandle, readMark } from '../../../../lib/sys/sys.ts';
import { toBytes } from '../../../../model/byte-path.ts';
import { Fault } from '../../../../model/fault.ts';
import { look } from '../../tree/tree.ts';
import { type WalkedPath, type WalkRules, walk } from '../../tree/walk.ts';
import type { WorkspacePlace } from '../../workspace.ts';
import type { BaseLog, Skipping } from '../change.ts';
import { isOpaqueMark, isWhiteout, originHead } from './layer-marks.ts';

/** What is known about a folder of a live base. */
export interface BaseFolder {
  /** The path leads to the same folder as when the agent changed something in it. */
  readonly steady: boolean;
  /** The `ctime` of the innermost folder that the base has: no entry was added or removed since. */
  readonly ctimeNs: bigint;
  /** The agent changed nothing in the folder before this time. */
  readonly enteredNs: bigint;
  /** The base's folder was observed to be hidden: a path without a record was added later, unseen by the agent. */
  readonly hidden: boolean;
}

/** Timestamps of files are behind the clock by up to one tick. */
export const tickNs = 10_000_000n;

/** False: something was moved during the walk and may have been missed. */
export function walkOverlay(
  place: WorkspacePlace,
  log: BaseLog,
  visit: WalkRules<BaseFolder>['visit'],
  skipping?: Skipping,
): boolean {
  return walkOverlayBy(place, [log], (walked, [baseFolder]) => visit(walked, baseFolder!), skipping);
}

/** Like `walkOverlay`, for several versions of the log: `visit` gets what follows from each of them. */
export function walkOverlayBy(
  place: WorkspacePlace,
  logs: readonly BaseLog[],
  visit: WalkRules<readonly BaseFolder[]>['visit'],
  skipping?: Skipping,
): boolean {
  const { ctimeNs } = lstatSync(place.base, { bigint: true });
  const root = logs.map(() => ({ steady: true, ctimeNs, enteredNs: 0n, hidden: false }));
  const skips = (walked: WalkedPath) => skipping?.skips(walked) ?? false;
  return walk(join(place.folder, 'upper'), place.base, () => root, { ...stepsOf(place, logs, visit), skips });
}

function stepsOf(
  place: WorkspacePlace,
  logs: readonly BaseLog[],
  visit: WalkRules<readonly BaseFolder[]>['visit'],
): WalkRules<readonly BaseFolder[]> {
  const views = logs.map((log) => ({ log, clock: clockOf(place, log) }));
  return {
    isWhiteout,
    isOpaque: (folder) => isOpaque(place, folder),
    visit: (walked, baseFolders) => {
      refuseForeign(place, walked);
      visit(walked, baseFolders);
    },
    inside: (walked, around) => {
      if (!place.live || !walked.before?.isDirectory()) return around;
      let found: boolean | undefined;
      const isCopied = () => {
        found ??= isCopyOf(place, walked);
        return found;
      };
      return views.map((view, n) => baseFolderInside(view, isCopied, walked, around[n]!));
    },
  };
}

export function isOpaque(place: WorkspacePlace, folder: Anchor): boolean {
  if (readMark(folder.fd, `${place.marks}.overlay.redirect`) !== null) throw foreign('redirect');
  return isOpaqueMark(place, folder.fd);
}

/** A metacopy has the size of the base's file, so other files need no check. */
function refuseForeign({ marks }: WorkspacePlace, { after, afterIn, before, name }: WalkedPath): void {
  if (!after?.isFile() || !before?.isFile() || afterIn === null || after.size !== before.size) return;
  if (readMark(afterIn.at(toBytes(name)), `${marks}.overlay.metacopy`) !== null) throw foreign('metacopy');
}

function foreign(mark: string): Fault {
  return new Fault('corrupt', `the working copy has an overlay mark (${mark}) that our mounts never make`);
}

/** The times with which timestamps of files are compared, to prove what a base was. */
export interface BaseTimes {
  /**
   * Every change before this time has a record. Before the first observation it is the time at which the upper layer
   * was made.
   */
  readonly lookedNs: bigint;
  /** The agent's files were created when the agent changed them, not copied later from a snapshot. */
  readonly original: boolean;
}

export function clockOf(place: WorkspacePlace, log: BaseLog): BaseTimes {
  const { birthtimeNs, mtimeNs } = lstatSync(join(place.folder, 'upper'), { bigint: true });
  if (log.lookedNs !== null) return { lookedNs: log.lookedNs, original: birthtimeNs <= log.lookedNs + 2n * tickNs };
  const original = mtimeNs >= birthtimeNs;
  return { lookedNs: original ? birthtimeNs - tickNs : 0n, original };
}

function baseFolderInside(
  { log, clock }: { readonly log: BaseLog; readonly clock: BaseTimes },
  isCopied: () => boolean,
  { path, before, beforeIn, after }: WalkedPath,
  around: BaseFolder,
): BaseFolder {
  const { ino, dev, ctimeNs } = before!;
  const kept = log.records.get(path)?.identity ?? null;
  const isKept = kept !== null && kept.ino === `${ino}` && kept.dev === `${dev}`;
  const isOld = ctimeNs < clock.lookedNs || isKept;
  return {
    steady: around.steady && (isOld || isCopied() || isUnmoved(clock, beforeIn!)),
    ctimeNs,
    enteredNs: enteredAt(clock, isCopied, after, around),
    hidden: around.hidden || log.hiding.has(path),
  };
}

/**
 * A time before the last observation proves nothing that the observation does not, so most folders need not be compared
 * with the base's.
 */
function enteredAt(
  { original, lookedNs }: BaseTimes,
  isCopied: () => boolean,
  after: Stat | null,
  around: BaseFolder,
): bigint {
  if (!original || after === null) return around.enteredNs;
  if (after.birthtimeNs <= lookedNs) return 0n;
  return isCopied() ? after.birthtimeNs : around.enteredNs;
}

/**
 * True: every entry of this folder of the base is the same as at the last observation, changed or not, since replacing
 * an entry changes the time of the folder. The time is read after the entry itself, so that no replacement is missed.
 */
function isUnmoved({ lookedNs }: BaseTimes, folder: Anchor): boolean {
  return statOf(folder.fd).ctimeNs < lookedNs;
}

/**
 * Whether the base has the same at this path now as when the agent first changed the path. The creation time of the
 * agent's file proves that only if the kernel copied it from this very inode: any other may have replaced an earlier
 * file of the agent. The kernel copies a folder when the first entry in it is changed.
 */
export function isProven(
  place: WorkspacePlace,
  { lookedNs, original }: BaseTimes,
  walked: WalkedPath,
  baseFolder: BaseFolder,
): boolean {
  const { after, before } = walked;
  if (before === null) {
    return after === null || !isCopy(place, walked) || (baseFolder.steady && baseFolder.ctimeNs < lookedNs);
  }
  if (baseFolder.steady && (before.ctimeNs < lookedNs || before.ctimeNs < baseFolder.enteredNs)) return true;
  return original && after !== null && before.ctimeNs < after.birthtimeNs && isCopyOf(place, walked);
}

/** Like `isProven`, for a file that the kernel copied from this very inode, by any of its names. */
export function isProvenInIndex({ lookedNs, original }: BaseTimes, { after, before }: WalkedPath): boolean {
  return before!.ctimeNs < lookedNs || (original && before!.ctimeNs < after!.birthtimeNs);
}

/** The kernel copied it from the base: from this path or from an earlier name. */
function isCopy({ marks }: WorkspacePlace, { afterIn, name }: WalkedPath): boolean {
  return afterIn !== null && readMark(afterIn.at(toBytes(name)), `${marks}.overlay.origin`) !== null;
}

/** The agent's entry hides what the base has now, or later, below this path. */
export function hidesBase(place: WorkspacePlace, { after, whiteout, afterIn, name }: WalkedPath): boolean {
  if (whiteout !== null || after === null) return whiteout !== null;
  return !after.isDirectory() || isOpaqueMark(place, afterIn!.at(toBytes(name)));
}

/** The kernel copied it from exactly what the base has at this path now. */
function isCopyOf({ marks }: WorkspacePlace, { after, afterIn, beforeIn, name }: WalkedPath): boolean {
  if (after === null || afterIn === null || beforeIn === null) return false;
  const origin = readMark(afterIn.at(toBytes(name)), `${marks}.overlay.origin`);
  if (origin === null || origin.length <= originHead.bytes) return false;
  const handle = fileHandle(beforeIn.at(toBytes(name)));
  if (handle?.type !== origin[originHead.type] || !handle?.bytes.equals(origin.subarray(originHead.bytes)))
    return false;
  return look(afterIn, name)?.ino === after.ino;
}
