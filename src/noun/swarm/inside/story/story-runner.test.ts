import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AdapterError } from '../../../agent/inside/adapter-error.ts';
import type { SwarmMessage } from '../../model/message.ts';
import { checkOutcome, type Outcome } from '../../model/outcome.ts';
import type { Story, TaskFile } from '../../model/task.ts';
import { freshOutcome } from '../begin.ts';
import { Broadcast, realClock } from '../broadcast.ts';
import type { Checkouts } from '../checkout/checkout.ts';
import type { AgentResult, RunAgent } from '../inside.ts';
import { OutcomeRecord } from '../outcome-record.ts';
import { StoryRunner } from './story-runner.ts';

const start = '0'.repeat(40);
let folder: string;
let sent: SwarmMessage[];
let branch: string[];
/** How often each story conflicts with the branch. */
let conflicts: Map<string, number>;
let working: Set<string>;
let most: number;
/** Called with each message when it is sent. */
let onMessage: (message: SwarmMessage) => void;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-stories-'));
  sent = [];
  branch = [];
  conflicts = new Map();
  working = new Set();
  most = 0;
  onMessage = (message) => sent.push(message);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function story(id: string, priority: number, ...dependsOn: string[]): Story {
  return { id, title: id, description: '', acceptanceCriteria: [], priority, status: 'pending', dependsOn };
}

function task(maxConcurrency: number, ...userStories: Story[]): TaskFile {
  const metadata = { title: 'T', type: 'feat', branchName: 'b', createdAt: '2026-01-01', maxConcurrency } as const;
  return { schemaVersion: '3.0', metadata, userStories };
}

const checkouts: Checkouts = {
  reset: async (lane) => `/lane/${lane}`,
  commit: async (_lane, _base, _onto, message) => {
    const id = /Carrel-Story: (US-\d+)/.exec(message)![1]!;
    const left = conflicts.get(id) ?? 0;
    conflicts.set(id, left - 1);
    return left > 0 ? null : id.slice(3).padStart(40, '0');
  },
  keep: async () => {},
  moveBranch: async (commit) => void branch.push(`US-${commit.slice(-3)}`),
};

const done: AgentResult = { status: 'completed', summary: 'did it', code: null };
const completeStory: RunAgent = async ({ story: { id } }) => {
  working.add(id);
  most = Math.max(most, working.size);
  await new Promise((resolve) => setImmediate(resolve));
  working.delete(id);
  return done;
};

async function runStories(file: TaskFile, runAgent: RunAgent, signal = new AbortController().signal, limits = {}) {
  const request = { taskFilePath: 'a.json', branchName: 'b' };
  const record = OutcomeRecord.create(folder, {
    ...freshOutcome('0e3b7f2c-5d1a-4c8e-9f00-1234567890ab', request),
    tip: start,
  });
  const broadcast = new Broadcast(
    { swarmId: '0e3b7f2c-5d1a-4c8e-9f00-1234567890ab', containerId: '0123456789ab' },
    realClock,
  );
  broadcast.add({ write: (line) => onMessage(JSON.parse(String(line))), isBehind: () => false });
  const run = new StoryRunner({
    task: file,
    taskName: 'a',
    helper: null,
    runAgent,
    env: {},
    limits: { storyMs: null, stallMs: null, ...limits },
    probe: null,
    checkouts,
    record,
    broadcast,
    log: () => {},
  }).run(signal);
  return run;
}

function written(): Outcome {
  return checkOutcome(JSON.parse(readFileSync(join(folder, 'outcome.json'), 'utf8')));
}

/** Changes such as `US-001 in_progress`, in the order in which they were sent. */
function changes(): string[] {
  return sent.flatMap((one) =>
    one.type === 'progress-update' ? [`${one.payload.storyId} ${one.payload.status}`] : [],
  );
}

test('stories are done in order of priority, when what they depend on is done', async () => {
  const file = task(1, story('US-001', 3), story('US-002', 2, 'US-003'), story('US-003', 9), story('US-004', 1));
  expect(await runStories(file, completeStory)).toEqual({ status: 'completed', prUrl: null, errors: [] });
  expect(branch).toEqual(['US-004', 'US-001', 'US-003', 'US-002']);
  expect(changes().slice(0, 3)).toEqual(['US-004 in_progress', 'US-004 completed', 'US-001 in_progress']);
  expect(most).toBe(1);
});

test.each([1, 2, 3])('no more than %i stories are worked on in parallel', async (count) => {
  await runStories(task(count, ...[1, 2, 3, 4, 5, 6].map((n) => story(`US-00${n}`, n))), completeStory);
  expect(most).toBe(count);
  expect([...branch].sort()).toEqual(['US-001', 'US-002', 'US-003', 'US-004', 'US-005', 'US-006']);
});

test('a status is recorded on disk before it is sent', async () => {
  const seen: unknown[] = [];
  onMessage = (message) => {
    if (message.type === 'progress-update') seen.push([message.payload.status, written().stories['US-001']?.status]);
  };
  await runStories(task(1, story('US-001', 1)), completeStory);
  expect(seen).toEqual([
    ['in_progress', 'in_progress'],
    ['completed', 'completed'],
  ]);
  expect(written()).toMatchObject({ tip: '1'.padStart(40, '0'), landing: null });
});

test('a story that fails blocks only the stories that depend on it', async () => {
  const file = task(
    2,
    story('US-001', 1),
    story('US-002', 2, 'US-001'),
    story('US-003', 3),
    story('US-004', 4, 'US-002'),
  );
  const runAgent: RunAgent = async (assignment, ...rest) =>
    assignment.story.id === 'US-001'
      ? { status: 'failed', summary: 'cannot', code: 'AGENT_CRASH' }
      : completeStory(assignment, ...rest);
  expect(await runStories(file, runAgent)).toEqual({
    status: 'failed',
    prUrl: null,
    errors: ['US-001: cannot', 'US-002: waits for US-001', 'US-004: waits for US-002'],
  });
  expect(branch).toEqual(['US-003']);
  expect(sent).toContainEqual(
    expect.objectContaining({ type: 'error', payload: { code: 'AGENT_CRASH', message: 'US-001: cannot' } }),
  );
});

test('a story that conflicts with the branch is tried again, at most three times in all', async () => {
  conflicts = new Map([
    ['US-001', 2],
    ['US-002', 3],
  ]);
  const times = new Map<string, number>();
  const runAgent: RunAgent = async (assignment, ...rest) => {
    times.set(assignment.story.id, (times.get(assignment.story.id) ?? 0) + 1);
    return completeStory(assignment, ...rest);
  };
  const { status, errors } = await runStories(task(2, story('US-001', 1), story('US-002', 2)), runAgent);
  expect([status, errors]).toEqual(['failed', ['US-002: it conflicts with what other stories changed meanwhile']]);
  expect([...times.values()]).toEqual([3, 3]);
  expect(branch).toEqual(['US-001']);
});

test('a stop ends running stories, begins no other, and completes as stopped', async () => {
  const stop = new AbortController();
  const runAgent: RunAgent = (_assignment, _reporter, signal) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve({ status: 'failed', summary: 'killed', code: null }));
      stop.abort();
    });
  expect(await runStories(task(1, story('US-001', 1), story('US-002', 2)), runAgent, stop.signal)).toEqual({
    status: 'stopped',
    prUrl: null,
    errors: ['US-001: stopped before it was finished', 'US-002: was not begun'],
  });
  expect(changes()).toEqual(['US-001 in_progress', 'US-001 failed']);
});

test.each([
  ['storyMs', 'the agent worked for more than 0.001 s'],
  ['stallMs', 'the agent printed nothing for 0.001 s'],
])('a story that takes longer than %s is ended with CONTAINER_TIMEOUT', async (limit, reason) => {
  const runAgent: RunAgent = (_assignment, _reporter, signal) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(done)));
  const { errors } = await runStories(task(1, story('US-001', 1)), runAgent, undefined, { [limit]: 1 });
  expect(errors).toEqual([`US-001: ${reason}`]);
  expect(sent.find(({ type }) => type === 'error')).toMatchObject({ payload: { code: 'CONTAINER_TIMEOUT' } });
});

test('a status that cannot be recorded is not sent, and ends the work on all stories', async () => {
  let ended = false;
  const runAgent: RunAgent = (assignment, _reporter, signal) => {
    if (assignment.story.id === 'US-001') {
      rmSync(folder, { recursive: true });
      return Promise.resolve(done);
    }
    return new Promise((resolve) =>
      signal.addEventListener('abort', () => {
        ended = true;
        resolve(done);
      }),
    );
  };
  await expect(runStories(task(2, story('US-001', 1), story('US-002', 2)), runAgent)).rejects.toThrow(AdapterError);
  expect(ended).toBe(true);
  expect(changes()).toEqual(['US-001 in_progress', 'US-002 in_progress']);
});
