/** Task files with the real CLI and daemon. */
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TaskView } from '../../src/noun/swarm/api/task.ts';
import { story, taskText } from '../fixtures/task-file.ts';
import { Installation } from '../harness/installation.ts';

let at: Installation;
let project: string;
let file: string;

beforeAll(() => {
  at = new Installation();
  project = at.folder('project');
  mkdirSync(join(project, '.carrel/tasks'), { recursive: true });
  mkdirSync(join(project, '.aimi/tasks'), { recursive: true });
  file = join(project, '.carrel/tasks/2026-01-31-login-tasks.json');
  const chain = [story(1), story(2, { dependsOn: ['US-001'] }), story(3, { dependsOn: ['US-002'] }), story(4)];
  writeFileSync(file, taskText(chain).replace('"priority": 4', '"priority": 0.0,\n      "estimate": 1e1'));
  const circle = [story(1, { dependsOn: ['US-002'] }), story(2, { dependsOn: ['US-001'] })];
  writeFileSync(join(project, '.aimi/tasks/2026-02-01-circle-tasks.json'), taskText(circle));
});
afterAll(() => at.dispose());

test('task commands list and validate task files, and set the status of stories', async () => {
  expect(await at.ok('task', 'list', project)).toBe(
    [
      'FILE                                       BRANCH      STORIES  TITLE',
      '.carrel/tasks/2026-01-31-login-tasks.json  feat/login  0/4      Login',
      '.aimi/tasks/2026-02-01-circle-tasks.json   -           -        invalid: circular: US-001 → US-002 → US-001',
      '',
    ].join('\n'),
  );
  expect(await at.ok('task', 'validate', file)).toBe(`${file}: ok, 4 stories\n`);
  const circle = join(project, '.aimi/tasks/2026-02-01-circle-tasks.json');
  const refused = await at.run(['task', 'validate', file, circle]);
  expect(refused.exitCode).toBe(2);
  expect(refused.stdout).toContain(`${circle}:19: userStories[0].dependsOn: circular: US-001 → US-002 → US-001`);
  expect((await at.json<{ id: string }[]>('task', 'ready', file)).map(({ id }) => id)).toEqual(['US-004', 'US-001']);

  const before = readFileSync(file, 'utf8');
  expect(await at.ok('task', 'mark', file, 'US-004', 'in_progress')).toBe('US-004 in_progress\n');
  const lines = readFileSync(file, 'utf8').split('\n');
  const differing = before.split('\n').flatMap((line, index) => (line === lines[index] ? [] : [lines[index]]));
  expect(differing).toEqual(['      "status": "in_progress",']);

  expect(await at.ok('task', 'mark', file, 'US-004', 'failed', '--notes', 'no $(way)')).toBe('US-004 failed\n');
  const early = await at.run(['task', 'mark', file, 'US-002', 'in_progress']);
  expect([early.exitCode, early.stderr]).toEqual([6, expect.stringMatching(/US-002 depends on US-001.*\n.*--force/)]);
  expect(await at.ok('task', 'skip', file, 'US-002')).toBe('US-002 skipped\nUS-003 skipped\n');
  await at.ok('task', 'mark', file, 'US-001', 'in_progress');
  expect(await at.ok('task', 'reset', file)).toBe('US-001 failed\n');
  const task = await at.json<TaskView>('task', 'list', file);
  expect(task.progress).toEqual({ total: 4, completed: 0, failed: 2, inProgress: 0, pending: 0, skipped: 2 });
  expect(task.stories[3]).toMatchObject({ status: 'failed', notes: 'no $(way)' });
});

test('a story whose dependencies are open is begun with --force only', async () => {
  const other = file.replace('login', 'forced');
  writeFileSync(other, taskText([story(1), story(2, { dependsOn: ['US-001'] })]));
  const mark = (...args: string[]) => at.run(['task', 'mark', other, 'US-002', ...args]);
  expect((await mark('in_progress')).exitCode).toBe(6);
  expect(await mark('in_progress', '--force')).toMatchObject({ exitCode: 0, stdout: 'US-002 in_progress\n' });
  expect((await mark('completed')).exitCode).toBe(6);
  expect((await mark('completed', '--force')).exitCode).toBe(0);
  rmSync(other);
});

test('an invalid change is refused with a reason, and changes nothing', async () => {
  const before = readFileSync(file, 'utf8');
  const link = join(project, '.carrel/tasks/2026-01-31-link-tasks.json');
  symlinkSync('/etc/passwd', link);
  const cases: [number, string, string[]][] = [
    [6, 'story US-002 is skipped and cannot become in_progress', ['mark', file, 'US-002', 'in_progress']],
    [2, '"US-2" is not the id of a story', ['skip', file, 'US-2']],
    [5, 'there is no story US-009', ['skip', file, 'US-009']],
    [2, '"done" is not a status', ['mark', file, 'US-001', 'done']],
    [2, 'is not where task files are', ['validate', join(project, 'x.json')]],
    [5, 'there is no task file', ['reset', file.replace('login', 'other')]],
    [4, 'is a link', ['reset', link]],
    [2, 'does not exist', ['list', '/nowhere']],
    [5, 'no task files in', ['validate']],
  ];
  for (const [exitCode, message, args] of cases) {
    const outcome = await at.run(['task', ...args]);
    expect([outcome.exitCode, outcome.stderr]).toEqual([exitCode, expect.stringContaining(message)]);
  }
  expect(readFileSync(file, 'utf8')).toBe(before);
});
