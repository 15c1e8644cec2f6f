/** Sparse files cost readers no more than the agent that made them. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Installation, type Outcome } from '../harness/installation.ts';
import { agent, Project } from '../harness/project.ts';

const tebibyte = 1024 ** 4;
const soon = { timeoutMs: 60_000 };
let carrel: Installation;
let project: Project;

beforeAll(async () => {
  carrel = new Installation();
  project = new Project(carrel.folder('project'), { readme: 'hello\n' });
  project.git('init', '-q');
  project.git('add', '-A');
  project.git('commit', '-qm', 'first');
  await carrel.ok('create', '--name', 'ada', project.path);
  await agent(carrel, 'ada', 'truncate -s 1T f; echo written >> f; truncate -s 2T f; echo more >> readme');
});
afterAll(() => carrel.dispose());

it('several clients review sparse files at once, even if one of them is killed', async () => {
  const looks = Array.from({ length: 4 }, (_, at) => carrel.run(['diff', 'ada', ...(at % 2 ? ['--stat'] : [])], soon));
  const left = carrel.spawn(['diff', 'ada']);
  left.kill('SIGKILL');
  for (const { exitCode, stdout } of (await Promise.all(looks)) as Outcome[]) {
    expect(exitCode).toBe(0);
    expect(stdout).toContain('f');
  }
  const { stdout } = await carrel.run(['diff', 'ada'], soon);
  expect(stdout).toMatch(new RegExp(`f.*${2 * tebibyte} B sparse:[0-9a-f]{64}`));
});

it('cp copies the data of a sparse file and skips its holes, out of a sandbox and into it', async () => {
  const out = join(carrel.folder('out'), 'f');
  expect((await carrel.run(['cp', 'ada:/workspace/f', out], soon)).exitCode).toBe(0);
  const { size, blocks } = statSync(out);
  expect(size).toBe(2 * tebibyte);
  expect(blocks * 512).toBeLessThan(10_000_000);
  expect((await carrel.run(['cp', out, 'ada:/tmp/g'], soon)).exitCode).toBe(0);
  expect((await carrel.run(['cp', join(out, '..'), 'ada:/tmp/h'], soon)).exitCode).toBe(0);
  const compared = 'stat -c %s /tmp/g /tmp/h/f; tail -c +1099511627777 /tmp/g | head -c 8; du -k /tmp/h/f | cut -f 1';
  const [first, second, text, kilobytes] = (await carrel.ok('exec', 'ada', '--', 'sh', '-c', compared)).split('\n');
  expect([first, second, text]).toEqual([String(2 * tebibyte), String(2 * tebibyte), 'written']);
  expect(Number(kilobytes)).toBeLessThan(10_000);
});

it('sparse files are left out of a patch, and refused for a commit', async () => {
  const { exitCode, stdout, stderr } = await carrel.run(['patch', 'ada'], soon);
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining('not in the patch: f')]);
  expect(stdout.length).toBeLessThan(10_000);
  const branch = await carrel.run(['apply', 'ada', '--branch', 'agent/ada'], soon);
  expect([branch.exitCode, branch.stderr]).toEqual([2, expect.stringContaining('f is mostly a hole')]);
});

it('sparse files are applied with their holes, and taken back by undo', async () => {
  expect((await carrel.run(['apply', 'ada'], soon)).exitCode).toBe(0);
  const { size, blocks } = statSync(join(project.path, 'f'));
  expect(size).toBe(2 * tebibyte);
  expect(blocks * 512).toBeLessThan(10_000_000);
  expect((await carrel.run(['undo', 'ada'], soon)).exitCode).toBe(0);
  expect(statSync(join(project.path, 'f'), { throwIfNoEntry: false })).toBeUndefined();
});
