/** What an apply did, or would do, as text: one group for each outcome. */

import { counted } from '../../../client/output/count.ts';
import type { Output } from '../../../client/output/output.ts';
import { pathText } from '../../../client/output/path-text.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import type { ApplyView, PlannedView } from '../api.ts';
import type { PathOutcome } from '../model/change.ts';
import { hidden, ignoredLines } from './diff-stat.ts';

type Conflict = NonNullable<PlannedView['conflict']>;
type Entry = Conflict['base'];

/** The groups in the order they are shown, with the headings for after and before the apply. */
export const groups: readonly (readonly [outcome: PathOutcome, done: string, ahead: string])[] = [
  ['take', 'taken', 'would be taken'],
  ['merge', 'merged', 'would be merged'],
  ['theirs', 'conflicts, taken from the agent', 'conflicts, would be taken from the agent'],
  ['markers', 'conflicts, written with markers', 'conflicts, would be written with markers'],
  ['ours', 'conflicts, kept as they were', 'conflicts, would be kept as they are'],
  ['same', 'already there', 'already there'],
  ['left', 'left', 'would be left'],
  ['conflict', 'conflicts', 'conflicts'],
  [
    'gated',
    'could run something here, so each kind has to be allowed',
    'could run something here, so each kind has to be allowed',
  ],
];

const words: { readonly [change in PlannedView['change']]: string } = {
  added: 'added',
  modified: 'modified',
  deleted: 'deleted',
  retyped: 'type changed',
  mode: 'mode changed',
};

export function report(view: ApplyView, out: Output): string[] {
  const several = new Set(view.paths.map(({ sandbox }) => sandbox)).size > 1;
  const happened = view.apply !== null || view.branch !== null;
  const lines = groups.flatMap(([outcome, done, ahead]) => {
    const paths = view.paths.filter((path) => path.outcome === outcome);
    return group(happened ? done : ahead, paths, several, out);
  });
  return [
    ...lines,
    ...ignoredLines(view.ignored),
    ...hidden(view.hiddenInGit).map((line) => line.trimStart()),
    ...commits(view),
  ];
}

/** A heading with its paths below; nothing when there are none. */
export function group(title: string, paths: readonly PlannedView[], several: boolean, out: Output): string[] {
  if (paths.length === 0) return [];
  const rows = table(
    paths.map((path) => [
      words[path.change],
      ...(several ? [plain(path.sandbox)] : []),
      pathText(path),
      path.gates.length === 0 ? '' : out.paint('yellow', `[${path.gates.join(', ')}]`),
    ]),
    // Paths that are taken over are shown in full, also on a narrow terminal.
    null,
  );
  return [
    `${out.paint('bold', title)} (${paths.length})`,
    ...paths.flatMap((path, index) => [`  ${rows[index]}`, ...noteLines(path), ...conflictLines(path)]),
  ];
}

function noteLines({ note }: PlannedView): string[] {
  return note === null ? [] : [`      ${plain(note)}`];
}

function conflictLines({ conflict, sandbox }: PlannedView): string[] {
  if (conflict === null) return [];
  const { reason, base, ours, theirs } = conflict;
  const gone = base === null ? 'absent' : 'deleted';
  const sides = [
    `base ${entryText(base, 'absent')}`,
    `${conflict.with === null ? 'the project' : plain(conflict.with)} ${entryText(ours, gone)}`,
    `${plain(sandbox)} ${entryText(theirs, gone)}`,
  ];
  return [
    `      ${plain(reason)}${conflict.with === null ? '' : ` (with ${plain(conflict.with)})`}`,
    `      ${sides.join(', ')}`,
  ];
}

/** `file 12 B`, `link to a/b`, `folder`. */
export function entryText(entry: Entry, absent: string): string {
  if (entry === null) return absent;
  if (entry.type === 'link') return `link to ${pathText({ path: entry.target ?? '' })}`;
  if (entry.type !== 'file') return entry.type;
  return `${(entry.mode & 0o111) === 0 ? 'file' : 'executable file'} ${entry.sizeBytes} B`;
}

/** A line for each branch of commits that agents made. */
export function commits(view: Pick<ApplyView, 'commits'>): string[] {
  return view.commits.map(
    ({ ahead, ref, subject }) => `${counted(ahead, 'commit')} on ${plain(ref)} (${plain(subject)})`,
  );
}
