/** Walks a working copy that is a complete tree: everything in it is compared with everything in its base. */
import { join } from 'node:path';
import { type WalkRules, walk } from '../tree/walk.ts';
import type { WorkspacePlace } from '../workspace.ts';

export function walkCopy(place: WorkspacePlace, visit: WalkRules<null>['visit']): void {
  const steps = { isWhiteout: () => false, isOpaque: () => true, inside: () => null, visit };
  walk(join(place.folder, 'tree'), place.base, () => null, steps);
}
