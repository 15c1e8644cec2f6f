/** What an apply does or would do, as the API shows it. */

import { type BytePath, isText, toBytes, toText } from '../../../model/byte-path.ts';
import type { ApplyView, PlannedView } from '../api.ts';
import type { Entry, PlannedPath } from '../model/change.ts';

export function blockedBy(paths: readonly PlannedPath[]): ApplyView['blocked'] {
  if (paths.some(({ outcome }) => outcome === 'conflict')) return 'conflict';
  return paths.some(({ outcome }) => outcome === 'gated') ? 'gated' : null;
}

export function plannedView(planned: PlannedPath): PlannedView {
  const { path, sandbox, change, outcome, note, conflict, gates } = planned;
  const sides = conflict && {
    ...conflict,
    base: entryView(conflict.base),
    ours: entryView(conflict.ours),
    theirs: entryView(conflict.theirs),
  };
  // There may be thousands of paths, and most need no base64.
  const view = {
    path: toText(path),
    sandbox,
    change,
    outcome,
    note,
    hardLink: null,
    gates: [...gates],
    conflict: sides,
  };
  return isText(path) ? view : { ...view, ...shownPath(path) };
}

function entryView(entry: Entry | null) {
  return entry && { ...entry, target: entry.target === null ? null : toText(entry.target) };
}

export function shownPath(path: BytePath): { path: string; pathBase64?: string } {
  return isText(path) ? { path: toText(path) } : { path: toText(path), pathBase64: toBytes(path).toString('base64') };
}
