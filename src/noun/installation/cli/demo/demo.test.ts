import { expect, test } from 'vitest';
import { demoScripts } from '../../../agent/inside/demo/demo-script.ts';
import { checkTaskFile, taskFileNamePattern } from '../../../swarm/model/task.ts';
import { sampleFiles } from './sample.ts';

const { project, tasks } = sampleFiles('2026-01-31');

test('the task files are valid, and the demo agent has a script for each of their stories', () => {
  const stories = Object.entries(tasks).flatMap(([path, text]) => {
    expect(path.replace('.carrel/tasks/', '')).toMatch(taskFileNamePattern);
    const check = checkTaskFile(JSON.parse(text));
    return 'file' in check ? check.file.userStories : expect.fail(String(check.problems));
  });
  expect(stories.map(({ title }) => title).sort()).toEqual(Object.keys(demoScripts).sort());
});

test('each text that the demo agent edits is exactly once in the sample', () => {
  const written = Object.values(demoScripts).flatMap((steps) =>
    steps.flatMap((step) => ('write' in step ? [[step.write, step.content] as const] : [])),
  );
  const files = { ...project, ...Object.fromEntries(written) };
  for (const step of Object.values(demoScripts).flat()) {
    if ('edit' in step) expect(files[step.edit]?.split(step.find)).toHaveLength(2);
  }
});
