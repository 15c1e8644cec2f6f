/** Lists what an agent changed: every path of its working copy that differs from its base. */

import { join } from 'node:path';
import type { BytePath } from '../../../model/byte-path.ts';
import type { Change, Content, Entry } from '../model/change.ts';
import { foldersAbove } from '../tree/folders.ts';
import { entryAt } from '../tree/tree.ts';
import type { WalkedPath } from '../tree/walk.ts';
import type { WorkspacePlace } from '../workspace.ts';
import { readBaseLog } from './base/base-log.ts';
import type { Base, BaseLog, BaseRecord, Changes, Skipping } from './change.ts';
import { baseInLog, baseInTree, isEqual, noBase } from './compare.ts';
import { walkCopy } from './copy.ts';
import { gitPart } from './git-inside.ts';
import { indexFolder, walkIndex } from './overlay/index-layer.ts';
import { type BaseFolder, type BaseTimes, clockOf, isProven, isProvenInIndex, walkOverlay } from './overlay/overlay.ts';
import { pathLimit } from './path-limit.ts';

export function listChanges(place: WorkspacePlace, skipping?: Skipping): Changes {
  const log = readBaseLog(place);
  const list = new ChangeList(place, log, place.kind === 'copy' ? null : clockOf(place, log));
  const skips = skipping && exceptApplied(log, skipping);
  if (place.kind === 'copy') walkCopy(place, (walked) => list.visit(walked, () => !place.live, false), skips);
  else walkOverlay(place, log, (walked, baseFolder) => list.visitOverlay(walked, baseFolder), skips);
  return { ...list.finish(), skipped: skipping?.found ?? [] };
}

/**
 * Never skips a folder with applied paths: the base of such a path is the applied version, so the path would count as
 * deleted if the walk did not visit it.
 */
export function exceptApplied(log: BaseLog, skipping: Skipping): Skipping {
  const folders = foldersAbove(appliedPaths(log));
  return { found: skipping.found, skips: (walked) => !folders.has(walked.path) && skipping.skips(walked) };
}

/** Collects the changes from a walk. */
export class ChangeList {
  readonly #place: WorkspacePlace;
  readonly #log: BaseLog;
  /** Null: not an overlay. */
  readonly #clock: BaseTimes | null;
  readonly #afterRoot: string;
  readonly #changes: Change[] = [];
  readonly #applied: Set<BytePath>;
  readonly #limit = pathLimit();
  #hiddenInGit = 0;
  #originals: ReadonlyMap<string, BaseRecord> | undefined;

  constructor(place: WorkspacePlace, log: BaseLog, clock: BaseTimes | null) {
    this.#place = place;
    this.#log = log;
    this.#clock = clock;
    this.#afterRoot = afterRoot(place);
    this.#applied = new Set(appliedPaths(log));
  }

  visitOverlay(walked: WalkedPath, baseFolder: BaseFolder): void {
    const isKnown = () => !this.#place.live || isProven(this.#place, this.#clock!, walked, baseFolder);
    this.visit(walked, isKnown, baseFolder.hidden);
  }

  /** `hidden`: a path without a record was never visible to the agent. */
  visit(walked: WalkedPath, isKnown: () => boolean, hidden: boolean): void {
    this.#applied.delete(walked.path);
    if (isHiddenInGit(this.#place, walked)) {
      if (this.#seemsChanged(walked)) this.#hiddenInGit += 1;
      return;
    }
    const after = walked.after && walked.afterIn && entryAt(walked.afterIn, walked.name, walked.after);
    if (walked.after !== null && after === null) return;
    const base = this.#baseOf(walked, isKnown, hidden);
    if (base === undefined) return;
    if (isEqual(this.#place, walked, after, base)) return;
    this.#push(walked.path, base, after, this.#contentOf(walked), isWithFolder(walked) && !base.known);
  }

  finish(): Changes {
    if (this.#clock !== null) this.#visitIndex(this.#clock);
    for (const path of this.#applied) this.#deletedSince(path);
    const changes = this.#changes.toSorted((one, other) => (one.path < other.path ? -1 : 1));
    return { changes, hiddenInGit: this.#hiddenInGit };
  }

  #visitIndex(clock: BaseTimes): void {
    const { live } = this.#place;
    walkIndex(this.#place, (walked) => this.visit(walked, () => !live || isProvenInIndex(clock, walked), false));
  }

  #baseOf(walked: WalkedPath, isKnown: () => boolean, hidden: boolean): Base | undefined {
    const record =
      this.#log.records.get(walked.path) ?? (walked.afterName === undefined ? undefined : this.#ofOriginal(walked));
    const counts =
      record !== undefined && record.origin !== 'unknown' && (this.#place.live || record.origin === 'applied');
    if (counts) return baseInLog(this.#place, this.#log, walked.path, record);
    if (record === undefined && hidden) return { ...noBase, known: true };
    return baseInTree(this.#place, walked, record === undefined && isKnown());
  }

  /** The record of the same file under another name. */
  #ofOriginal({ before }: WalkedPath): BaseRecord | undefined {
    this.#originals ??= originalsIn(this.#log);
    return this.#originals.get(`${before!.dev}:${before!.ino}`);
  }

  #contentOf({ afterName }: WalkedPath): Content {
    if (afterName === undefined) return { at: 'tree', root: this.#afterRoot };
    return { at: 'tree', root: indexFolder(this.#place), path: afterName };
  }

  /**
   * Lists an applied path that the agent has deleted. If the base does not have the path, or the kernel has not seen it
   * there yet, the kernel leaves no mark when the agent deletes it, so the walk does not visit it.
   */
  #deletedSince(path: BytePath): void {
    this.#push(path, baseInLog(this.#place, this.#log, path, this.#log.records.get(path)!), null, { at: 'lost' });
  }

  #push(path: BytePath, base: Base, after: Entry | null, content: Content, unsure = false): void {
    this.#limit(path);
    this.#changes.push({
      path,
      before: base.entry,
      after,
      beforeContent: base.content,
      afterContent: after?.type === 'file' ? content : null,
      ...(base.identity === null ? {} : { beforeFile: base.identity }),
      baseKnown: base.known,
      ...(unsure ? { perhapsUnseen: true } : {}),
    });
  }

  /** Compares stats only: an exact count would mean reading the objects of a repository. */
  #seemsChanged({ after, before }: WalkedPath): boolean {
    if (after === null || before === null) return after !== before;
    if (after.mode !== before.mode) return true;
    if (!after.isFile()) return !after.isDirectory();
    return this.#place.kind === 'overlay' || after.size !== before.size || after.mtimeNs !== before.mtimeNs;
  }
}

/** True: the path was deleted together with a folder above it. */
function isWithFolder({ after, whiteout }: WalkedPath): boolean {
  return after === null && whiteout === null;
}

/** The folder that holds the agent's version of paths. */
export function afterRoot({ kind, folder }: WorkspacePlace): string {
  return join(folder, kind === 'copy' ? 'tree' : 'upper');
}

export function isHiddenInGit({ cloned }: WorkspacePlace, { path, after, before }: WalkedPath): boolean {
  const part = gitPart(path);
  if (cloned && /^\.git(?:\/|$)/i.test(path)) return true;
  if (part !== 'git') return part === 'inside';
  return [after, before].every((stat) => stat === null || stat.isDirectory());
}

function appliedPaths({ records }: BaseLog): BytePath[] {
  return [...records].filter(([, { origin, entry }]) => origin === 'applied' && entry !== null).map(([path]) => path);
}

function originalsIn({ records }: BaseLog): Map<string, BaseRecord> {
  const found = new Map<string, BaseRecord>();
  for (const newest of records.values())
    for (let record: BaseRecord | null = newest; record !== null; record = record.previous)
      if (record.origin === 'project' && record.identity !== null)
        found.set(`${record.identity.dev}:${record.identity.ino}`, record);
  return found;
}
