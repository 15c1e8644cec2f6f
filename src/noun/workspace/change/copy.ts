/** Walks a working copy that is a complete tree: everything in it is compared with everything in its base. */
import { join } from 'node:path';
import { type WalkedPath, type WalkRules, walk } from '../tree/walk.ts';
import type { WorkspacePlace } from '../workspace.ts';
import type { Skipping } from './change.ts';

export function walkCopy(place: WorkspacePlace, visit: WalkRules<null>['visit'], skipping?: Skipping): void {
  const skips = (walked: WalkedPath) => skipping?.skips(walked) ?? false;
  const steps = { isWhiteout: () => false, isOpaque: () => true, inside: () => null, visit, skips };
  walk(join(place.folder, 'tree'), place.base, () => null, steps);
}
