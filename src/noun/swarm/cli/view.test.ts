import { describe, expect, test } from 'vitest';
import { Output } from '../../../client/output/output.ts';
import { width } from '../../../client/output/text.ts';
import type { SwarmContainerView, SwarmView } from '../api.ts';
import { noProgress } from '../model/task.ts';
import { fittingTable, swarmChanges, swarmNotes, swarmTable } from './view.ts';

const at = '2026-01-31T12:00:00.000Z';

function container(containerName: string, change: Partial<SwarmContainerView> = {}): SwarmContainerView {
  return {
    containerId: '0123456789abcdef',
    containerName,
    taskFilePath: '.carrel/tasks/x.json',
    branchName: `feat/${containerName}`,
    status: 'running',
    prUrl: null,
    storyProgress: { ...noProgress, total: 3, completed: 1, inProgress: 1, pending: 1 },
    createdAt: at,
    updatedAt: at,
    acpPid: null,
    agent: 'claude',
    attempt: 1,
    startedAt: at,
    reason: null,
    hint: null,
    errors: [],
    stories: [
      { id: 'US-001', status: 'completed', output: '' },
      { id: 'US-002', status: 'in_progress', output: 'reading\nwriting \u001b[2J' },
    ],
    commits: [],
    ...change,
  };
}

function view(...containers: SwarmContainerView[]): SwarmView {
  return { swarmId: 'x', project: '/p', max: 4, createdAt: at, updatedAt: at, containers };
}

const piped = new Output(false, { write: () => {} });
const terminal = (columns: number, rows: number) =>
  new Output(false, { write: () => {}, isTTY: true, columns, rows }, undefined, {});

const commits = [{ ref: 'refs/carrel/b/heads/feat/b', commit: 'b3c26aef0211112222', subject: 's', ahead: 2 }];
const done = { ...noProgress, total: 2, completed: 2 };

describe('a swarm', () => {
  test('is a table with the current story or the end of each container', () => {
    const all = view(
      container('a'),
      container('b', { status: 'completed', storyProgress: done, commits }),
      container('c', { status: 'failed', reason: 'lost' }),
      container('d', { status: 'completed', prUrl: 'https://h/pr/1', storyProgress: done, commits }),
      container('e', { agent: null, storyProgress: noProgress, stories: [] }),
      container('f', { agent: null, storyProgress: noProgress, stories: [], status: 'failed', reason: 'lost' }),
    );
    expect(swarmTable(all, piped)).toEqual([
      'NAME  STATUS     STORIES                           BRANCH',
      'a     running    ████░░░░░░░░ 1/3 (1 in progress)  feat/a  US-002 writing \\u001b[2J',
      'b     completed  ████████████ 2/2                  feat/b  b3c26aef02 in refs/carrel/b/heads/feat/b',
      'c     failed     ████░░░░░░░░ 1/3 (1 in progress)  feat/c  lost',
      'd     completed  ████████████ 2/2                  feat/d  https://h/pr/1',
      'e     running    ░░░░░░░░░░░░ 0/0                  feat/e  managed by a script',
      'f     failed     ░░░░░░░░░░░░ 0/0                  feat/f  lost; managed by a script',
    ]);
  });

  test('has a bar in which failed stories differ from completed ones', () => {
    const failed = container('a', { status: 'failed', storyProgress: { ...noProgress, total: 3, failed: 3 } });
    const mixed = container('b', { storyProgress: { ...noProgress, total: 4, completed: 2, failed: 1, pending: 1 } });
    const [, first, second] = swarmTable(view(failed, mixed), piped);
    expect([first, second]).toEqual([
      expect.stringContaining('×××××××××××× 0/3 (3 failed)'),
      expect.stringContaining('██████×××░░░ 2/4 (1 failed)'),
    ]);
  });

  test('shows each error once, and a limited number of them', () => {
    const bad = container('a', { status: 'failed', errors: ['AGENT_CRASH: no', 'the line\nended'] });
    const good = container('b', { status: 'completed', commits, errors: ['the task file was not changed'] });
    expect(swarmNotes(view(bad, good), piped)).toEqual(['a: the line\\nended', 'b: the task file was not changed']);
    const lost = Array.from({ length: 30 }, (_, n) => `lost ${n}`);
    expect(swarmNotes(view(container('c', { errors: lost })), piped).slice(-2)).toEqual(['c: lost 19', 'and 10 more']);
  });

  test('has a note with the whole reason, or with the commits, if the table has no room for it', () => {
    const reason = 'SERVICE_UNREACHABLE: no connection to api.openai.com';
    const all = view(container('a', { status: 'failed', reason, errors: [reason] }));
    expect(swarmNotes(all, terminal(80, 24))).toEqual([`a: ${reason}`]);
    expect(swarmNotes(all, terminal(200, 24))).toEqual([]);
    const good = view(container('b', { status: 'completed', storyProgress: done, commits }));
    expect(swarmNotes(good, terminal(60, 24))).toEqual(['b: b3c26aef02 in refs/carrel/b/heads/feat/b']);
  });

  test.each([40, 70, 80, 200])('fits into %i columns', (columns) => {
    const all = view(container('a', { stories: [{ id: 'US-001', status: 'in_progress', output: 'x'.repeat(300) }] }));
    const lines = swarmTable(all, terminal(columns, 24));
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect(width(line)).toBeLessThanOrEqual(Math.max(columns, 60));
  });

  test('has one line for each container in 80 columns, however long names and branches are', () => {
    const names = ['a-task-with-a-rather-long-name', 'another-task-with-a-long-name'];
    const all = names.map((name) => container(name, { branchName: `feat/${name}/and-more-of-it` }));
    const lines = swarmTable(view(...all), terminal(80, 24));
    expect(lines).toHaveLength(3);
    expect(lines[2]).toContain('another-task-with-a-long-name   ');
    for (const line of lines) expect(width(line)).toBeLessThanOrEqual(80);
  });

  test('shows only the rows that fit on the terminal, running containers first', () => {
    const many = Array.from({ length: 30 }, (_, n) => container(`c${n}`, { status: n < 28 ? 'completed' : 'running' }));
    const lines = fittingTable(view(...many), terminal(120, 10));
    expect(lines).toHaveLength(9);
    expect(lines[1]).toContain('c28');
    expect(lines.at(-1)).toBe('and 23 more, 23 of them completed');
  });
});

test('each change of a swarm is printed as a line', () => {
  const before = view(
    container('a', { status: 'pending', stories: [{ id: 'US-001', status: 'pending', output: '' }] }),
  );
  const now = view(container('a', { stories: [{ id: 'US-001', status: 'in_progress', output: 'x' }] }));
  expect(swarmChanges(null, before)).toEqual(['a pending 1/3']);
  expect(swarmChanges(before, now)).toEqual(['a US-001 in_progress', 'a running 1/3']);
  expect(swarmChanges(now, now)).toEqual([]);
  const lost = view(container('a', { errors: ['lost'], stories: now.containers[0]!.stories }));
  expect([swarmChanges(now, lost), swarmChanges(lost, lost)]).toEqual([['a: lost'], []]);
  expect(
    swarmChanges(now, view(container('a', { status: 'failed', reason: 'lost', stories: now.containers[0]!.stories }))),
  ).toEqual(['a failed 1/3 lost']);
});
