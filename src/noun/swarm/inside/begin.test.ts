import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { StoryStatus } from '../model/message.ts';
import type { Outcome } from '../model/outcome.ts';
import type { TaskFile } from '../model/task.ts';
import { freshOutcome, readTaskFile, reconcileRecord, type TaskOnBranch, taskNameOf } from './begin.ts';
import { OutcomeRecord } from './outcome-record.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-begin-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function commit(digit: number): string {
  return String(digit).repeat(40);
}

function task(...statuses: StoryStatus[]): TaskFile {
  const metadata = { title: 'T', type: 'feat', branchName: 'b', createdAt: '2026-01-01' } as const;
  const userStories = statuses.map((status, index) => ({
    id: `US-00${index + 1}`,
    title: 't',
    description: '',
    acceptanceCriteria: [],
    priority: index,
    status,
    dependsOn: [],
  }));
  return { schemaVersion: '3.0', metadata, userStories };
}

interface Case {
  readonly file: TaskFile;
  readonly earlier?: Partial<Outcome>;
  /** The tip of the branch, and the commits that exist. */
  readonly tip: number;
  readonly commits?: readonly number[];
  readonly landed?: Record<string, number>;
}

async function reconciled({ file, earlier = {}, tip, commits = [tip], landed = {} }: Case) {
  const request = { taskFilePath: 'a.json', branchName: 'b' };
  const fresh = freshOutcome('0e3b7f2c-5d1a-4c8e-9f00-1234567890ab', request);
  const record = OutcomeRecord.create(folder, { ...fresh, ...earlier });
  const moves: string[] = [];
  const branch = {
    open: async () => commit(tip),
    move: async (to: string) => void moves.push(to),
    has: async (one: string) => commits.map(commit).includes(one),
    storiesOn: async () => new Map(Object.entries(landed).map(([id, digit]) => [id, commit(digit)])),
  } as unknown as TaskOnBranch['branch'];
  await reconcileRecord(record, { branch, task: file, taskName: 'a' });
  const { outcome } = record;
  const stories = Object.entries(outcome.stories).map(([id, { status }]) => `${id} ${status}`);
  return { outcome, stories, moves };
}

describe('the work on a task file', () => {
  test('begins at the tip of the branch; stories that the task file marks as done are recorded as done', async () => {
    const file = task('completed', 'pending', 'skipped', 'failed', 'in_progress');
    const { outcome, stories } = await reconciled({ file, tip: 1 });
    expect(outcome).toMatchObject({ base: commit(1), tip: commit(1), landing: null });
    expect(stories).toEqual(['US-001 completed', 'US-003 skipped']);
  });

  test('counts a story with a commit on the branch as completed, whatever the task file says', async () => {
    const { outcome, stories } = await reconciled({
      file: task('in_progress', 'failed'),
      tip: 2,
      landed: { 'US-001': 2 },
    });
    expect(stories).toEqual(['US-001 completed']);
    expect(outcome.stories['US-001']?.commit).toBe(commit(2));
  });

  test('begins at the commit that was about to land, and moves the branch there', async () => {
    const earlier = { base: commit(1), tip: commit(1), landing: { storyId: 'US-001', commit: commit(2) } };
    const { outcome, moves } = await reconciled({ file: task('pending'), earlier, tip: 1, commits: [1, 2] });
    expect(moves).toEqual([commit(2)]);
    expect(outcome).toMatchObject({ base: commit(1), tip: commit(2), landing: null });
  });

  test('ignores a commit that was about to land but does not exist', async () => {
    const earlier = { base: commit(1), tip: commit(1), landing: { storyId: 'US-001', commit: commit(2) } };
    const { outcome, moves } = await reconciled({ file: task('pending'), earlier, tip: 1 });
    expect(moves).toEqual([]);
    expect(outcome.tip).toBe(commit(1));
  });

  test('begins at the recorded tip, even if an agent moved the branch', async () => {
    const earlier = { base: commit(1), tip: commit(2) };
    const { outcome, moves } = await reconciled({ file: task('pending'), earlier, tip: 3, commits: [1, 2, 3] });
    expect(moves).toEqual([commit(2)]);
    expect(outcome.tip).toBe(commit(2));
  });

  test('repeats stories that failed or were in progress', async () => {
    const noResult = { output: '', commit: null };
    const earlier = {
      base: commit(1),
      tip: commit(1),
      stories: { 'US-001': { status: 'failed', ...noResult }, 'US-002': { status: 'in_progress', ...noResult } },
    } as const;
    expect((await reconciled({ file: task('pending', 'pending'), earlier, tip: 1 })).stories).toEqual([]);
  });
});

describe('a task file', () => {
  function put(path: string, content: unknown): void {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content));
  }

  function read(path: string): TaskFile {
    return readTaskFile(path, [join(folder, 'project'), join(folder, 'workspace')]);
  }

  test('is read from the workspace only if the project, which the agent cannot change, has no such file', () => {
    put('project/a.json', task('pending'));
    put('workspace/a.json', task('completed'));
    put('workspace/b.json', task('skipped'));
    expect(read('a.json').userStories[0]?.status).toBe('pending');
    expect(read('b.json').userStories[0]?.status).toBe('skipped');
    expect(read(join(folder, 'workspace/a.json')).userStories[0]?.status).toBe('completed');
  });

  test.each([
    ['none.json', 'TASK_FILE_NOT_FOUND', 'there is no task file'],
    ['folder.json', 'TASK_FILE_NOT_FOUND', 'there is no task file'],
    ['../project/a.json', 'INVALID_INPUT', 'leaves the repository'],
    ['text.json', 'TASK_FILE_INVALID', 'text.json: '],
    ['wrong.json', 'TASK_FILE_INVALID', 'schemaVersion: must be "3.0"'],
    ['big.json', 'TASK_FILE_INVALID', 'more than 1048576 bytes'],
    ['itself.json', 'TASK_FILE_INVALID', 'US-001 depends on itself'],
  ])('%s is refused with %s', (path, code, reason) => {
    mkdirSync(join(folder, 'project/folder.json'), { recursive: true });
    put('project/text.json', 'hello');
    put('project/wrong.json', { schemaVersion: '2.0' });
    put('project/big.json', ' '.repeat(1024 ** 2 + 1));
    const one = task('pending');
    put('project/itself.json', { ...one, userStories: [{ ...one.userStories[0], dependsOn: ['US-001'] }] });
    expect(() => read(path)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(reason) }));
  });

  test('may be a link to another file', () => {
    put('project/a.json', task('pending'));
    symlinkSync('a.json', join(folder, 'project/b.json'));
    expect(read('b.json').userStories).toHaveLength(1);
  });

  test('gives its commits a name without folder, "-tasks" and extension', () => {
    expect(taskNameOf('.carrel/tasks/2026-01-31-login-tasks.json')).toBe('2026-01-31-login');
    expect(taskNameOf('/a/b.json')).toBe('b');
  });
});

test('a record that is damaged or of another version is ignored', () => {
  for (const text of ['', '{', '{}', '{"version":"9"}', 'x'.repeat(5 * 1024 ** 2)]) {
    writeFileSync(join(folder, 'outcome.json'), text);
    expect(OutcomeRecord.read(folder)).toBeNull();
  }
});

test('a temporary file that a crash left does not block the next write of the record', () => {
  const request = { taskFilePath: 'a.json', branchName: 'b' };
  const fresh = freshOutcome('0e3b7f2c-5d1a-4c8e-9f00-1234567890ab', request);
  OutcomeRecord.create(folder, fresh);
  writeFileSync(join(folder, `outcome.json.${process.pid}.tmp`), '{');
  OutcomeRecord.read(folder)?.change({ tip: commit(1) });
  expect(OutcomeRecord.read(folder)?.outcome.tip).toBe(commit(1));
});
