/** A project with the task file that the guide of swarms shows, and agents that work on it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TaskFile } from '../../src/noun/swarm/model/task.ts';
import type { Question, Turn } from '../fixtures/scripted-model.ts';
import { story } from '../fixtures/task-file.ts';
import { until } from '../harness/installation.ts';
import { fences } from '../shown-commands.ts';
import type { Guide } from './guide.ts';
import { answersAs, sandboxHome, withClaude } from './guide-services.ts';

export const loginTasks = '.carrel/tasks/2026-01-31-login-tasks.json';

/** While true, the agent does not finish a story. */
let isHeld = false;

/** Each story adds a line to a file. */
function worksOnStory(_: Question, said: number): Turn {
  if (said > 0) return [{ text: 'I did it.' }];
  const command = isHeld ? 'sleep infinity' : 'echo form >> form.html';
  return [{ tool: 'Bash', input: { command, description: 'Do the story' } }];
}

export function addStory({ project }: Guide): void {
  const file = JSON.parse(project.read(loginTasks)) as TaskFile;
  const more = story(file.userStories.length + 1);
  project.put(loginTasks, JSON.stringify({ ...file, userStories: [...file.userStories, more] }));
}

/** Adds a story to the task file and waits until the agent works on it. */
export async function workOnAnotherStory(guide: Guide): Promise<void> {
  addStory(guide);
  isHeld = true;
  await guide.ok('carrel swarm run --all --agent claude -d');
  await until(async () => /in progress/.test(await guide.ok('carrel swarm status')), 'the agent to be at work');
  isHeld = false;
}

/** Installs claude and codex for the task file that the page of swarms shows. */
export async function hasTasks(guide: Guide): Promise<void> {
  await withClaude(guide, worksOnStory);
  await answersAs(guide, 'api.openai.com');
  // A script replaces codex: the real program is larger than all others together.
  const codex = join(await sandboxHome(guide), '.local/bin/codex');
  writeFileSync(codex, '#!/bin/sh\ncat > /dev/null; echo codex >> codex.txt\n', { mode: 0o755 });
  await guide.carrel.run(['secret', 'set', 'OPENAI_API_KEY'], { input: 'sk-real' });
  const { project } = guide;
  project.put('.gitignore', '.carrel\nkey\n');
  project.put('key', 'sk-real\n');
  project.git('init', '-q');
  project.git('add', 'README.md', '.gitignore');
  project.git('commit', '-q', '-m', 'first');
  putTasks(guide);
}

/** Writes the task file that the page of swarms shows. */
export function putTasks({ project }: Guide): void {
  const example = fences(readFileSync('docs/swarm.md', 'utf8')).find(({ language }) => language === 'json')!;
  project.put(loginTasks, example.text);
}
