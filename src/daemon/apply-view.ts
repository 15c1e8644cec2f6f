/** What an apply does or would do, as the API shows it. */
import type { ApplyView, PlannedView } from '../api/routes.ts';
import { toText } from '../model/byte-path.ts';
import type { Entry, PlannedPath } from '../model/change.ts';
import { shownPath } from './workspaces.ts';

export function blockedBy(paths: readonly PlannedPath[]): ApplyView['blocked'] {
  if (paths.some(({ outcome }) => outcome === 'conflict')) return 'conflict';
  return paths.some(({ outcome }) => outcome === 'gated') ? 'gated' : null;
}

export function plannedView({ path, hardLink, conflict, gates, ...rest }: PlannedPath): PlannedView {
  const sides = conflict && {
    ...conflict,
    base: entryView(conflict.base),
    ours: entryView(conflict.ours),
    theirs: entryView(conflict.theirs),
  };
  const link = hardLink === null ? null : toText(hardLink);
  return { ...shownPath(path), ...rest, hardLink: link, gates: [...gates], conflict: sides };
}

function entryView(entry: Entry | null) {
  return entry && { ...entry, target: entry.target === null ? null : toText(entry.target) };
}
