/** Reads a working copy that is a whole tree of its own: everything in it and in its base is compared. */
import { join } from 'node:path';
import { Cursor } from '../tree/tree.ts';
import { type Steps, walk } from '../tree/walk.ts';
import type { WorkspacePlace } from '../workspace.ts';

export function walkCopy(place: WorkspacePlace, visit: Steps<null>['visit']): void {
  const after = new Cursor(join(place.folder, 'tree'));
  try {
    const before = new Cursor(place.base);
    try {
      walk(after, before, null, { isWhiteout: () => false, isOpaque: () => true, inside: () => null, visit });
    } finally {
      before.close();
    }
  } finally {
    after.close();
  }
}
