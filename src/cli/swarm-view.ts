/** A swarm as people see it: a table, and lines for whoever reads along. */
import type { SwarmContainerView, SwarmView } from '../api/routes.ts';
import type { Output } from './output/output.ts';
import { paintState } from './output/state.ts';
import { table } from './output/table.ts';
import { cut, plain } from './output/text.ts';
import { progressCell } from './task.ts';

const barColumns = 12;
const wordColumns = 60;
/** A commit as people write it. */
const shortCommit = 10;

export function isActive({ status }: Pick<SwarmContainerView, 'status'>): boolean {
  return status === 'pending' || status === 'running';
}

export function swarmTable({ containers }: SwarmView, out: Output): string[] {
  const rows = containers.map((one) => [
    plain(one.containerName),
    paintState(out, one.status),
    `${bar(one, out)} ${progressCell(one.storyProgress)}`,
    plain(one.branchName),
    cut(lastWord(one), wordColumns),
  ]);
  const lines = table([['NAME', 'STATUS', 'STORIES', 'BRANCH', ''], ...rows]);
  return out.columns === null ? lines : lines.map((line) => cut(line, out.columns!));
}

/** What is done, and in another colour what failed. */
function bar({ storyProgress: { total, completed, skipped, failed } }: SwarmContainerView, out: Output): string {
  const columns = (count: number) => (total === 0 ? 0 : Math.round((count * barColumns) / total));
  const done = columns(completed + skipped);
  const bad = Math.min(barColumns - done, columns(failed));
  const rest = '░'.repeat(barColumns - done - bad);
  return `${out.paint('green', '█'.repeat(done))}${out.paint('red', '█'.repeat(bad))}${rest}`;
}

/** Why it ended, where its commits are, or what it is at. */
export function lastWord({ status, reason, errors, commits, stories, prUrl, agent }: SwarmContainerView): string {
  if (agent === null) return 'looked after by a script';
  if (status === 'failed') return plain(reason ?? errors[0] ?? '');
  const [tip] = commits;
  if (prUrl !== null) return plain(prUrl);
  if (tip && !isActive({ status })) return plain(`${tip.commit.slice(0, shortCommit)} in ${tip.ref}`);
  const at = stories.find((story) => story.status === 'in_progress');
  return at ? plain(`${at.id} ${at.output.split('\n').at(-1)}`) : '';
}

/** What is different from the last look, a line each. */
export function swarmChanges(before: SwarmView | null, now: SwarmView): string[] {
  return now.containers.flatMap((one) => {
    const old = before?.containers.find(({ containerName }) => containerName === one.containerName);
    return [...storyLines(old, one), ...statusLine(old, one)];
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
  return [`${plain(now.containerName)} ${now.status} ${completed}/${total}${word === '' ? '' : ` ${word}`}`];
}
