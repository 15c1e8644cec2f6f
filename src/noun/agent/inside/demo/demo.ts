/** The agent of `carrel demo`: no model, no key, no network. It plays the script of a story, and really edits and tests. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type DemoStep, demoScripts } from './demo-script.ts';

/** Pause before each step, long enough to read along. */
const stepMs = 250;

const { title } = JSON.parse(readFileSync(0, 'utf8')) as { title: string };
const script = demoScripts[title];
if (!script) fail(`this agent only knows the stories of carrel demo, and "${title}" is none of them`);
for (const step of script) {
  await pause(stepMs);
  take(step);
}

function take(step: DemoStep): void {
  if ('say' in step) console.log(step.say);
  else if ('write' in step) write(step.write, step.content);
  else if ('edit' in step) write(step.edit, edited(step));
  else runTests();
}

function write(path: string, content: string): void {
  console.log(`[Write] ${path}`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

function edited({ edit, find, put }: Extract<DemoStep, { edit: string }>): string {
  const [before, after, ...more] = readFileSync(edit, 'utf8').split(find);
  if (after === undefined || more.length > 0) fail(`${edit} is not as it was: "${find}" should be there once`);
  return `${before}${put}${after}`;
}

function runTests(): void {
  console.log('[Test]');
  const { status, stdout } = spawnSync(process.execPath, ['--test'], { encoding: 'utf8' });
  if (status !== 0) fail(`the tests fail:\n${stdout}`);
}

function fail(reason: string): never {
  console.error(reason);
  process.exit(1);
}
