/**
 * Walks a working copy and its base side by side, folder by folder, without recursion. Visits every path that the
 * working copy has itself and every path of the base that it hides; what only shows through is not visited.
 */
import type { Anchor } from '../../../lib/file/anchor.ts';
import { namesOf } from '../../../lib/file/folder-names.ts';
import { checkCancelled } from '../../../lib/flow/cancel.ts';
import type { Stat } from '../../../lib/sys/stat.ts';
import type { BytePath } from '../../../model/byte-path.ts';
import { look } from './tree.ts';
import { TreeCursor } from './tree-cursor.ts';

/** One path, as found on both sides. */
export interface WalkedPath {
  readonly path: BytePath;
  readonly name: BytePath;
  /** The folders the path is in. Null: there is none on that side. */
  readonly afterIn: Anchor | null;
  readonly beforeIn: Anchor | null;
  /** Null: nothing there. */
  readonly after: Stat | null;
  readonly before: Stat | null;
  /** The mark that hides what the base has there. */
  readonly whiteout: Stat | null;
  /** The name of `after` in `afterIn`, if that is not `name`. */
  readonly afterName?: BytePath;
}

export interface WalkRules<T> {
  isWhiteout(stat: Stat): boolean;
  /** The base's folder does not show through this one. */
  isOpaque(folder: Anchor): boolean;
  visit(walked: WalkedPath, inside: T): void;
  /** True: the entries of this folder, which the base does not have, are not visited. */
  skips?(walked: WalkedPath): boolean;
  /** The value that `visit` gets for the entries of this folder. */
  inside(walked: WalkedPath, around: T): T;
}

interface Frame<T> {
  readonly path: BytePath;
  readonly names: readonly BytePath[];
  next: number;
  readonly after: boolean;
  readonly before: boolean;
  readonly opaque: boolean;
  readonly inside: T;
}

/** `inside` makes the value for the root. False: something was moved meanwhile and may have been missed. */
export function walk<T>(
  afterRoot: string,
  beforeRoot: string,
  inside: (root: Anchor) => T,
  steps: WalkRules<T>,
): boolean {
  const after = new TreeCursor(afterRoot);
  try {
    const before = new TreeCursor(beforeRoot);
    try {
      walkBoth(after, before, inside(after.here!), steps);
    } finally {
      before.close();
    }
    return !after.lostTrack;
  } finally {
    after.close();
  }
}

function walkBoth<T>(after: TreeCursor, before: TreeCursor, root: T, steps: WalkRules<T>): void {
  const stack = [frame<T>('', after, before, { after: true, before: true, opaque: false }, root, steps)];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    checkCancelled();
    const name = top.names[top.next++];
    if (name === undefined) {
      stack.pop();
      if (top.after && top.path !== '') after.up();
      if (top.before && top.path !== '') before.up();
      continue;
    }
    const walked = walkedAt(top, name, after, before, steps);
    if (walked.after === null && walked.before === null && walked.whiteout === null) continue;
    steps.visit(walked, top.inside);
    const next = descend(walked, top, after, before, steps);
    if (next !== null) stack.push(next);
  }
}

function walkedAt<T>(
  top: Frame<T>,
  name: BytePath,
  after: TreeCursor,
  before: TreeCursor,
  steps: WalkRules<T>,
): WalkedPath {
  const afterIn = top.after ? after.here : null;
  const beforeIn = top.before ? before.here : null;
  const found = afterIn && look(afterIn, name);
  const whiteout = found !== null && steps.isWhiteout(found);
  return {
    path: top.path === '' ? name : `${top.path}/${name}`,
    name,
    afterIn,
    beforeIn,
    after: whiteout ? null : found,
    before: beforeIn && look(beforeIn, name),
    whiteout: whiteout ? found : null,
  };
}

function descend<T>(
  walked: WalkedPath,
  top: Frame<T>,
  after: TreeCursor,
  before: TreeCursor,
  steps: WalkRules<T>,
): Frame<T> | null {
  const [wantAfter, wantBefore] = [walked.after?.isDirectory() ?? false, walked.before?.isDirectory() ?? false];
  if (!wantAfter && !wantBefore) return null;
  if (!wantBefore && steps.skips?.(walked)) return null;
  const inside = steps.inside(walked, top.inside);
  const inAfter = wantAfter && after.down(walked.name);
  // A folder that vanished before it was entered hides nothing.
  if (wantAfter && !inAfter) return null;
  const inBefore = wantBefore && before.down(walked.name);
  if (!inAfter && !inBefore) return null;
  const opaque = top.opaque || !wantAfter;
  return frame(walked.path, after, before, { after: inAfter, before: inBefore, opaque }, inside, steps);
}

function frame<T>(
  path: BytePath,
  after: TreeCursor,
  before: TreeCursor,
  at: { after: boolean; before: boolean; opaque: boolean },
  inside: T,
  steps: WalkRules<T>,
): Frame<T> {
  const opaque = at.opaque || (at.after && steps.isOpaque(after.here!));
  const own = at.after ? namesOf(after.here!.fd) : [];
  const hidden = at.before && opaque ? namesOf(before.here!.fd) : [];
  const names = own.length === 0 ? hidden : hidden.length === 0 ? own : [...new Set([...own, ...hidden])];
  return { path, names, next: 0, ...at, opaque, inside };
}
