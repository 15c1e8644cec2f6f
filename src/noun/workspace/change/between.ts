/**
 * Lists the differences between two working copies of one project. Recorded bases do not count here: the files that the
 * two sandboxes see at a path are compared, even if a change was applied and the owner has edited the file since.
 */
import { within } from '../../../lib/file/anchor.ts';
import type { BytePath } from '../../../model/byte-path.ts';
import type { Change, Content, Entry } from '../model/change.ts';
import { folderBelow, openContent, sameBytes, using } from '../tree/content.ts';
import { entryAt, look } from '../tree/tree.ts';
import { type WalkedPath, walk } from '../tree/walk.ts';
import type { WorkspacePlace } from '../workspace.ts';
import { readBaseLog } from './base/base-log.ts';
import { afterRoot, isHiddenInGit } from './changes.ts';
import { walkCopy } from './copy.ts';
import { indexFolder, walkIndex } from './overlay/index-layer.ts';
import { walkOverlay } from './overlay/overlay.ts';
import { pathLimit } from './path-limit.ts';

interface Found {
  readonly entry: Entry | null;
  readonly content: Content | null;
}

/** `before` is what the first one has, `after` what the second one has. */
export function changesBetween(first: WorkspacePlace, second: WorkspacePlace): Change[] {
  const [before, after] = [ownPaths(first), ownPaths(second)];
  const paths = new Set([...before.keys(), ...after.keys(), ...pathsOfBases(first, second)]);
  const pairs = [...paths]
    .sort()
    .map((path) => changeOf(path, before.get(path) ?? inBase(first, path), after.get(path) ?? inBase(second, path)));
  return pairs.filter((change) => !isSame(change));
}

/** Paths that the working copy has itself or hides; at every other path the base shows through. */
function ownPaths(place: WorkspacePlace): Map<BytePath, Found> {
  const found = new Map<BytePath, Found>();
  const limit = pathLimit();
  const visit = (walked: WalkedPath) => {
    if (isHiddenInGit(place, walked)) return;
    limit(walked.path);
    found.set(walked.path, ownAt(place, walked));
  };
  if (place.kind === 'copy') walkCopy(place, visit);
  else {
    walkOverlay(place, readBaseLog(place), visit);
    walkIndex(place, visit);
  }
  return found;
}

function ownAt(place: WorkspacePlace, { after, afterIn, afterName, name }: WalkedPath): Found {
  const entry = after && afterIn && entryAt(afterIn, afterName ?? name, after);
  if (afterName === undefined) return foundIn(afterRoot(place), entry);
  return { entry, content: { at: 'tree', root: indexFolder(place), path: afterName } };
}

function inBase({ base }: WorkspacePlace, path: BytePath): Found {
  const names = path.split('/');
  const last = names.pop()!;
  const folder = folderBelow(base, names);
  if (folder === null) return { entry: null, content: null };
  return within(folder, () => {
    const stat = look(folder, last);
    return foundIn(base, stat && entryAt(folder, last, stat));
  });
}

function foundIn(root: string, entry: Entry | null): Found {
  return { entry, content: entry?.type === 'file' ? { at: 'tree', root } : null };
}

/** Paths at which the bases differ: copies made at different times may differ where no agent changed anything. */
function pathsOfBases(first: WorkspacePlace, second: WorkspacePlace): BytePath[] {
  if (first.base === second.base) return [];
  const found: BytePath[] = [];
  const limit = pathLimit();
  walk(first.base, second.base, () => null, {
    isWhiteout: () => false,
    isOpaque: () => true,
    inside: () => null,
    visit: (walked) => {
      if (isHiddenInGit(first, walked) || isHiddenInGit(second, walked)) return;
      limit(walked.path);
      found.push(walked.path);
    },
  });
  return found;
}

function changeOf(path: BytePath, before: Found, after: Found): Change {
  return {
    path,
    before: before.entry,
    after: after.entry,
    beforeContent: before.content,
    afterContent: after.content,
    baseKnown: true,
  };
}

function isSame({ path, before, after, beforeContent, afterContent }: Change): boolean {
  if (before === null || after === null) return before === after;
  if (before.type !== after.type || before.mode !== after.mode || before.target !== after.target) return false;
  if (before.type !== 'file') return true;
  if (before.sizeBytes !== after.sizeBytes) return false;
  return (
    using(openContent(beforeContent!, path), (one) =>
      using(openContent(afterContent!, path), (other) => sameBytes(one, other)),
    ) ?? false
  );
}
