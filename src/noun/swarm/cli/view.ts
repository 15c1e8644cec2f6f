/** A swarm as text: a table, and a line for each change. */

import type { Output } from '../../../client/output/output.ts';
import { table } from '../../../client/output/table.ts';
import { cut, plain, width } from '../../../client/output/text.ts';
import { paintState } from '../../sandbox/cli/state.ts';
import type { SwarmContainerView, SwarmView } from '../api.ts';
import { isActive } from '../model/swarm.ts';
import { progressCell } from './task.ts';

const barColumns = 12;
const wordColumns = 60;
const leastWord = 10;
const maxNotes = 20;
/** How many characters of a commit id are shown. */
const shortCommit = 10;

export function swarmTable({ containers }: SwarmView, out: Output): string[] {
  const cells = containers.map((one) => [
    plain(one.containerName),
    paintState(out, one.status),
    `${bar(one, out)} ${progressCell(one.storyProgress)}`,
    plain(one.branchName),
    '',
  ]);
  // The table is drawn in place, so each row must be one line: only the last column is wrapped, and it is empty here.
  const lines = table([['NAME', 'STATUS', 'STORIES', 'BRANCH', ''], ...cells], out.columns);
  const room = wordRoom(lines, out);
  const words = ['', ...containers.map((one) => (room < leastWord ? '' : cut(lastWord(one), room)))];
  return table(
    lines.map((line, index) => [line, words[index]!]),
    null,
  );
}

/** The columns that are left for the last word; stdout without a terminal has a fixed width. */
function wordRoom(lines: readonly string[], { columns }: Output): number {
  return columns === null ? wordColumns : Math.min(wordColumns, columns - Math.max(...lines.map(width)) - 3);
}

const order = ['running', 'failed', 'pending', 'stopped', 'completed'] as const;

/** The rows that fit on the terminal, active containers first. */
export function fittingTable(view: SwarmView, out: Output): string[] {
  const room = Math.max(1, out.rows - 3);
  if (view.containers.length <= room) return swarmTable(view, out);
  const sorted = [...view.containers].sort((a, b) => order.indexOf(a.status) - order.indexOf(b.status));
  const rest = sorted.slice(room);
  const completed = rest.filter(({ status }) => status === 'completed').length;
  const table = swarmTable({ ...view, containers: sorted.slice(0, room) }, out);
  return [...table, `and ${rest.length} more, ${completed} of them completed`];
}

/** The bar of done and failed stories. They have different signs, so that they differ without colours too. */
function bar({ storyProgress: { total, completed, skipped, failed } }: SwarmContainerView, out: Output): string {
  const columns = (count: number) => (total === 0 ? 0 : Math.round((count * barColumns) / total));
  const done = columns(completed + skipped);
  const bad = Math.min(barColumns - done, columns(failed));
  const rest = '░'.repeat(barColumns - done - bad);
  return `${out.paint('green', '█'.repeat(done))}${out.paint('red', '×'.repeat(bad))}${rest}`;
}

/** Why the container ended, where its commits are, or which story it works on. */
export function lastWord({ status, reason, errors, commits, stories, prUrl, agent }: SwarmContainerView): string {
  const why = status === 'failed' ? plain(reason ?? errors[0] ?? '') : '';
  if (agent === null) return why === '' ? 'managed by a script' : `${why}; managed by a script`;
  if (status === 'failed') return why;
  const [tip] = commits;
  if (prUrl !== null) return plain(prUrl);
  if (tip && !isActive({ status })) return plain(`${tip.commit.slice(0, shortCommit)} in ${tip.ref}`);
  const at = stories.find((story) => story.status === 'in_progress');
  return at ? plain(`${at.id} ${at.output.split('\n').at(-1)}`) : '';
}

/** Errors that the table does not show, and the last word where the table cut it. */
export function swarmNotes(view: SwarmView, out: Output): string[] {
  const shown = swarmTable(view, out);
  const notes = view.containers.flatMap((one, index) => {
    const isCut = !isActive(one) && !shown[index + 1]!.endsWith(lastWord(one));
    const end = isCut ? [`${plain(one.containerName)}: ${lastWord(one)}`] : [];
    return [...noteLines(one, []), ...end, ...hintLine(one)];
  });
  const rest = notes.length - maxNotes;
  return rest > 0 ? [...notes.slice(0, maxNotes), `and ${rest} more`] : notes;
}

function noteLines(one: SwarmContainerView, known: readonly string[]): string[] {
  return one.errors
    .filter((error) => !known.includes(error) && plain(error) !== lastWord(one))
    .map((error) => plain(`${one.containerName}: ${error}`));
}

/** The hint for a failed container. */
function hintLine({ containerName, status, hint }: SwarmContainerView): string[] {
  return status === 'failed' && hint !== null ? [plain(`${containerName}: hint: ${hint}`)] : [];
}

/** A line for each difference from the last view. */
export function swarmChanges(before: SwarmView | null, now: SwarmView): string[] {
  return now.containers.flatMap((one) => {
    const old = before?.containers.find(({ containerName }) => containerName === one.containerName);
    return [...storyLines(old, one), ...(old ? noteLines(one, old.errors) : []), ...statusLine(old, one)];
  });
}

function storyLines(old: SwarmContainerView | undefined, { containerName, stories }: SwarmContainerView): string[] {
  const known = new Map(old?.stories.map(({ id, status }) => [id, status]));
  return stories
    .filter(({ id, status }) => old && known.get(id) !== status)
    .map(({ id, status }) => plain(`${containerName} ${id} ${status}`));
}

function statusLine(old: SwarmContainerView | undefined, now: SwarmContainerView): string[] {
  if (old?.status === now.status) return [];
  const { completed, total } = now.storyProgress;
  const word = isActive(now) ? '' : lastWord(now);
  const hint = old === undefined ? [] : hintLine(now);
  return [`${plain(now.containerName)} ${now.status} ${completed}/${total}${word === '' ? '' : ` ${word}`}`, ...hint];
}
