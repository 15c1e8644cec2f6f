import { describe, expect, test } from 'vitest';
import { processorMs } from '../../../../test/harness/processor-time.ts';
import { type StoryStatus, storyStatuses } from './message.ts';
import {
  checkStoryTransition,
  checkTaskFile,
  openDependencies,
  orphanedStories,
  progressOf,
  readyStories,
  type Story,
  skippedWith,
} from './task.ts';

function story(number: number, change: Partial<Story> = {}): Story {
  return {
    id: `US-${String(number).padStart(3, '0')}`,
    title: `Story ${number}`,
    description: '',
    acceptanceCriteria: [],
    priority: number,
    status: 'pending',
    dependsOn: [],
    ...change,
  };
}

function file(stories: readonly unknown[], metadata: object = {}): Record<string, unknown> {
  return {
    schemaVersion: '3.0',
    metadata: { title: 'Login', type: 'feat', branchName: 'feat/login', createdAt: '2026-01-31', ...metadata },
    userStories: stories,
  };
}

function problems(value: unknown): string[] {
  const checked = checkTaskFile(value);
  return 'problems' in checked ? checked.problems.map(({ message }) => message) : [];
}

describe('a task file', () => {
  test('is parsed with all of its fields', () => {
    const value = file([story(1), story(2, { dependsOn: ['US-001'], notes: 'x' })], {
      maxConcurrency: 2,
      planPath: null,
    });
    expect(checkTaskFile(value)).toEqual({ file: value });
  });

  test('may have unknown fields, which are ignored', () => {
    const value = { ...file([{ ...story(1), estimate: 3 }], { execution: 'container' }), extra: 1 };
    expect(checkTaskFile(value)).toEqual({ file: file([story(1)]) });
  });

  test.each<[string, unknown]>([
    ['must be an object, not a list', []],
    ['schemaVersion: is missing', {}],
    ['schemaVersion: must be "3.0"', { ...file([]), schemaVersion: '2.0' }],
    ['metadata.type: must be "feat" or "ref" or "bug" or "chore"', file([], { type: 'fix' })],
    ['metadata.branchName: must be a branch name', file([], { branchName: '--force' })],
    ['metadata.createdAt: must be a date', file([], { createdAt: 'today' })],
    ['metadata.maxConcurrency: must be a whole number from 1 to 64', file([], { maxConcurrency: 0 })],
    ['userStories: must be a list', { ...file([]), userStories: {} }],
    ['userStories[0]: must be an object', file([null])],
    ['userStories[0].id: must be the id of a story', file([story(1, { id: 'US-1' })])],
    ['userStories[0].title: must have at most 200', file([story(1, { title: 'x'.repeat(201) })])],
    ['userStories[0].description: must have at most 500', file([story(1, { description: 'x'.repeat(501) })])],
    ['acceptanceCriteria[1]: must have at most 300', file([story(1, { acceptanceCriteria: ['', 'x'.repeat(301)] })])],
    ['userStories[0].priority: must be a whole number', file([story(1, { priority: 1.5 })])],
    ['userStories[0].status: must be "pending" or', file([{ ...story(1), status: 'done' }])],
    [
      'userStories[0].dependsOn: is missing',
      file([{ ...story(1), dependsOn: undefined }].map((one) => JSON.parse(JSON.stringify(one)))),
    ],
    ['userStories[1].id: US-001 is also the id of userStories[0]', file([story(1), story(2, { id: 'US-001' })])],
    ['userStories[1].priority: 1 is also the priority of userStories[0]', file([story(1), story(2, { priority: 1 })])],
    ['userStories[0].dependsOn[0]: US-001 depends on itself', file([story(1, { dependsOn: ['US-001'] })])],
    [
      'userStories[0].dependsOn[1]: there is no story US-009',
      file([story(1, { dependsOn: ['US-002', 'US-009'] }), story(2)]),
    ],
  ])('is refused: %s', (reason, value) => {
    expect(problems(value)[0]).toContain(reason);
  });

  test('is refused with all problems of its stories', () => {
    const value = file([story(1, { title: '' }), story(2), { ...story(3), status: 1 }]);
    expect(problems(value)).toEqual([
      'userStories[0].title: must not be empty',
      expect.stringContaining('userStories[2].status: must be'),
    ]);
  });

  test('with circular dependencies is refused with each circle', () => {
    const chain = [story(1), story(2, { dependsOn: ['US-003'] }), story(3, { dependsOn: ['US-004', 'US-001'] })];
    expect(problems(file([...chain, story(4, { dependsOn: ['US-002'] })]))).toEqual([
      'userStories[1].dependsOn: circular: US-002 → US-003 → US-004 → US-002',
    ]);
    const two = [1, 2, 3, 4].map((n) => story(n, { dependsOn: [`US-00${n % 2 === 0 ? n - 1 : n + 1}`] }));
    expect(problems(file(two))).toEqual([
      'userStories[0].dependsOn: circular: US-001 → US-002 → US-001',
      'userStories[2].dependsOn: circular: US-003 → US-004 → US-003',
    ]);
  });

  test('with very many circular dependencies is refused with some of them', () => {
    const ids = Array.from({ length: 600 }, (_, n) => `US-${String(n).padStart(3, '0')}`);
    const stories = ids.map((id, n) => story(n, { dependsOn: ids.filter((other) => other !== id) }));
    expect(problems(file(stories))).toHaveLength(20);
  });

  test('with a thousand stories that depend on all before them is checked quickly', () => {
    const stories = Array.from({ length: 1000 }, (_, n) =>
      story(n, { dependsOn: Array.from({ length: Math.min(n, 450) }, (_, m) => `US-${String(m).padStart(3, '0')}`) }),
    );
    const began = processorMs();
    expect(problems(file(stories))).toEqual([]);
    expect(skippedWith('US-000', stories)).toHaveLength(1000);
    expect(readyStories(stories).map(({ id }) => id)).toEqual(['US-000']);
    expect(processorMs() - began).toBeLessThan(5000);
  });
});

describe('a story', () => {
  const legal: readonly [StoryStatus, StoryStatus][] = [
    ['pending', 'in_progress'],
    ['pending', 'skipped'],
    ['in_progress', 'completed'],
    ['in_progress', 'failed'],
    ['failed', 'in_progress'],
  ];
  const all = storyStatuses.flatMap((from) => storyStatuses.map((to) => [from, to] as const));

  test.each(legal)('that is %s may become %s', (from, to) => {
    checkStoryTransition('US-001', from, to);
  });

  test.each(all.filter(([from, to]) => !legal.some(([a, b]) => a === from && b === to)))(
    'that is %s may not become %s',
    (from, to) => {
      expect(() => checkStoryTransition('US-001', from, to)).toThrow(`story US-001 is ${from} and cannot become ${to}`);
    },
  );

  test('is ready when all its dependencies are completed or skipped, and the most urgent one comes first', () => {
    const stories = [
      story(1, { status: 'completed', priority: 9 }),
      story(2, { status: 'skipped' }),
      story(3, { dependsOn: ['US-001', 'US-002'], priority: 8 }),
      story(4, { dependsOn: ['US-003'] }),
      story(5, { status: 'in_progress' }),
      story(6, { status: 'failed', dependsOn: ['US-001'] }),
      story(7, { dependsOn: ['US-006'] }),
      story(10),
      story(11, { status: 'failed', dependsOn: ['US-007'] }),
    ];
    expect(readyStories(stories).map(({ id }) => id)).toEqual(['US-003', 'US-010']);
    expect(openDependencies(stories[6]!, stories)).toEqual(['US-006']);
  });

  test('is skipped together with pending stories that depend on it', () => {
    const stories = [
      story(1),
      story(2, { dependsOn: ['US-001'] }),
      story(3, { dependsOn: ['US-002'] }),
      story(4, { dependsOn: ['US-001'], status: 'completed' }),
      story(5, { dependsOn: ['US-004'] }),
      story(6),
    ];
    expect(skippedWith('US-001', stories)).toEqual(['US-001', 'US-002', 'US-003']);
  });

  test('is an orphan if it is in progress and no worker has it', () => {
    const stories = [story(1, { status: 'in_progress' }), story(2, { status: 'in_progress' }), story(3)];
    expect(orphanedStories(stories, new Set(['US-002', 'US-003']))).toEqual(['US-001']);
  });

  test('is counted by its status', () => {
    const stories = storyStatuses.flatMap((status, n) => Array.from({ length: n + 1 }, () => ({ status })));
    expect(progressOf(stories)).toEqual({ total: 15, pending: 1, inProgress: 2, completed: 3, failed: 4, skipped: 5 });
  });
});
