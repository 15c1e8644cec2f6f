/**
 * Makes some paths of a working copy, and all below them, equal to the base again. Allowed only while nothing runs in
 * the working copy and it is not mounted. An overlay then shows the base as it is now, so the records of these paths
 * are removed.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Anchor, within } from '../../../lib/file/anchor.ts';
import { readIfThere, writeWhole } from '../../../lib/file/file.ts';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { writeMark } from '../../../lib/sys/sys.ts';
import { type BytePath, isWithin, toBytes } from '../../../model/byte-path.ts';
import { isFault } from '../../../model/fault.ts';
import { folderBelow } from '../tree/content.ts';
import { entryAt, look } from '../tree/tree.ts';
import type { WalkedPath } from '../tree/walk.ts';
import type { WorkspacePlace } from '../workspace.ts';
import { forgetBases, keepBases } from './base/base.ts';
import { readBaseLog } from './base/base-log.ts';
import { afterRoot, listChanges } from './changes.ts';
import { baseInTree, isEqual } from './compare.ts';
import { walkCopy } from './copy.ts';
import { foldIndex } from './overlay/fold-index.ts';
import { isWhiteout } from './overlay/layer-marks.ts';
import { isOpaque, walkOverlay } from './overlay/overlay.ts';
import { StagingFolder } from './staging-folder.ts';

type Scope = (path: BytePath) => boolean;

/** An empty list means every path. Returns the paths that were listed as changed and no longer are. */
export function discardChanges(place: WorkspacePlace, paths: readonly BytePath[]): BytePath[] {
  const selected = paths.includes('') ? [] : paths;
  const tops = selected.filter((path) => !selected.some((other) => other !== path && isWithin(path, other)));
  const listed = listedIn(place, scopeOf(tops));
  if (listed?.length === 0) return [];
  writeWhole(noteFile(place.folder), JSON.stringify({ place, tops } satisfies Note));
  crashPoint('discard:noted');
  const more = carryOut({ place, tops });
  return [...new Set([...(listed ?? tops), ...more])].sort((one, other) => (one < other ? -1 : 1));
}

/**
 * What is being discarded. Without this file, the working copy would look after a crash half-way as if the agent had
 * deleted the rest.
 */
interface Note {
  readonly place: WorkspacePlace;
  readonly tops: readonly BytePath[];
}

function noteFile(folder: string): string {
  return join(folder, 'discarding.json');
}

/** Completes a discard that a crash interrupted, before the working copy is read or mounted. */
export function finishDiscard(folder: string): void {
  const text = readIfThere(noteFile(folder));
  if (text !== null) carryOut(JSON.parse(text) as Note);
}

function carryOut({ place, tops }: Note): BytePath[] {
  const scope = scopeOf(tops);
  foldIndex(place);
  const staging = new StagingFolder(join(place.folder, 'discarded'));
  try {
    const more =
      place.kind === 'copy' ? discardCopy(place, tops, scope, staging) : discardOverlay(place, tops, staging);
    crashPoint('discard:moved');
    forgetBases(place, (path) => scope(path) || more.includes(path));
    // Records the state of the project that was put back.
    keepBases(place);
    crashPoint('discard:forgotten');
    rmSync(noteFile(place.folder));
    return more;
  } finally {
    staging.dispose();
  }
}

function scopeOf(tops: readonly BytePath[]): Scope {
  return (path) => tops.length === 0 || tops.some((top) => isWithin(path, top));
}

/** Null: there are too many paths to list; a discard is the remedy, so it goes on. */
function listedIn(place: WorkspacePlace, scope: Scope): BytePath[] | null {
  try {
    const { changes } = listChanges(place);
    return changes.map(({ path }) => path).filter(scope);
  } catch (error) {
    if (isFault(error, 'exhausted')) return null;
    throw error;
  }
}

/** Returns files that were removed too, because they were in the place of a folder above a discarded path. */
function discardOverlay(place: WorkspacePlace, tops: readonly BytePath[], staging: StagingFolder): BytePath[] {
  if (tops.length > 0) {
    const replaced = tops.flatMap((top) => new OverlayPath(place, top, staging).discard());
    const missing: BytePath[] = [];
    walkOverlay(place, readBaseLog(place), ({ path, after, whiteout }) => {
      if (after === null && whiteout === null && tops.some((top) => isWithin(path, top))) missing.push(path);
    });
    putBack(place, missing, staging);
    return replaced;
  }
  within(Anchor.reach(afterRoot(place)), (upper) => {
    for (const name of upper.list()) staging.take(upper, name);
  });
  return [];
}

function discardCopy(
  place: WorkspacePlace,
  tops: readonly BytePath[],
  scope: Scope,
  staging: StagingFolder,
): BytePath[] {
  const [differing, onTheWay, replaced]: BytePath[][] = [[], [], []];
  walkCopy(place, (walked) => {
    if (scope(walked.path) && !isAsInBase(place, walked)) differing!.push(walked.path);
    const { path, after, before } = walked;
    if (!before?.isDirectory() || after?.isDirectory() || !tops.some((top) => isOnTheWay(place, path, top))) return;
    onTheWay!.push(path);
    if (after !== null) replaced!.push(path);
  });
  putBack(place, [...onTheWay!, ...differing!], staging);
  return replaced!;
}

function isOnTheWay(place: WorkspacePlace, path: BytePath, top: BytePath): boolean {
  return path !== top && isWithin(top, path) && isInBase(place, top);
}

function isInBase({ base }: WorkspacePlace, path: BytePath): boolean {
  const names = path.split('/');
  const name = names.pop()!;
  const folder = folderBelow(base, names);
  return folder !== null && within(folder, () => look(folder, name) !== null);
}

function isAsInBase(place: WorkspacePlace, walked: WalkedPath): boolean {
  const after = walked.after && walked.afterIn && entryAt(walked.afterIn, walked.name, walked.after);
  const base = baseInTree(place, walked, true);
  return base !== undefined && isEqual(place, walked, after, base);
}

/** Folders come before their entries. A path that was moved away with its folder needs no step of its own. */
function putBack(place: WorkspacePlace, paths: BytePath[], staging: StagingFolder): void {
  for (const path of paths.sort((one, other) => (one < other ? -1 : 1))) {
    const names = path.split('/');
    const name = names.pop()!;
    const to = folderBelow(afterRoot(place), names);
    const from = folderBelow(place.base, names);
    if (to !== null) putOne(from, to, name, staging);
    from?.close();
    to?.close();
  }
}

function putOne(from: Anchor | null, to: Anchor, name: BytePath, staging: StagingFolder): void {
  const [base, own] = [from && look(from, name), look(to, name)];
  if (base?.isDirectory() && own?.isDirectory()) to.chmod(toBytes(name), Number(base.mode & 0o7777n));
  else {
    if (own !== null) staging.take(to, name);
    if (from !== null && base !== null) staging.put(from, name, base, to);
  }
}

/** Walks to one path through both trees. */
class OverlayPath {
  readonly #place: WorkspacePlace;
  readonly #names: BytePath[];
  readonly #staging: StagingFolder;
  #upper: Anchor;
  #lower: Anchor | null;
  /** The base does not show through in the current folder. */
  #hidden: boolean;
  readonly #replaced: BytePath[] = [];

  constructor(place: WorkspacePlace, path: BytePath, staging: StagingFolder) {
    this.#place = place;
    this.#names = path.split('/');
    this.#staging = staging;
    this.#upper = Anchor.reach(afterRoot(place));
    this.#lower = Anchor.reach(place.base);
    this.#hidden = isOpaque(place, this.#upper);
  }

  discard(): BytePath[] {
    try {
      const last = this.#names.length - 1;
      if (this.#names.slice(0, last).every((_, index) => this.#enter(index))) this.#discardHere(this.#names[last]!);
      return this.#replaced;
    } finally {
      this.#upper.close();
      this.#lower?.close();
    }
  }

  #discardHere(name: BytePath): void {
    if (look(this.#upper, name) !== null) this.#staging.take(this.#upper, name);
  }

  /** False: neither tree has anything further down, or the base shows through already. */
  #enter(index: number): boolean {
    const name = this.#names[index]!;
    const own = look(this.#upper, name);
    if (own === null && !this.#hidden) return false;
    const isFolder = own?.isDirectory() ?? false;
    if (!isFolder && !this.#makeFolder(name)) return false;
    if (!isFolder && own !== null && !isWhiteout(own)) this.#replaced.push(this.#names.slice(0, index + 1).join('/'));
    this.#go(name);
    return true;
  }

  /** Makes the base's folder, but empty: its entries stay deleted. */
  #makeFolder(name: BytePath): boolean {
    const stat = this.#lower && look(this.#lower, name);
    if (!this.#lower || !stat?.isDirectory() || !isInBase(this.#place, this.#names.join('/'))) return false;
    if (look(this.#upper, name) !== null) this.#staging.take(this.#upper, name);
    return this.#staging.put(this.#lower, name, stat, this.#upper, (made) =>
      writeMark(Buffer.from(made), `${this.#place.marks}.overlay.opaque`, 'y'),
    );
  }

  #go(name: BytePath): void {
    const [upper, lower] = [this.#upper, this.#lower];
    this.#upper = upper.enter(toBytes(name));
    upper.close();
    this.#lower = lower && look(lower, name)?.isDirectory() ? lower.enter(toBytes(name)) : null;
    lower?.close();
    this.#hidden ||= isOpaque(this.#place, this.#upper);
  }
}
