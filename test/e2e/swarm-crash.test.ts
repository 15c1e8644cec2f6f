// @takes 30 s
/** Daemons, adapters and sandboxes of swarms are killed: after a resume each story is done once. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Installation, isRunning, until } from '../harness/installation.ts';
import { hasEnded, knowScripted, lines, SwarmProject, workMs } from '../harness/swarm.ts';
import { localPrey, seed, survive } from '../harness/swarm-kill.ts';
import { childrenOf } from '../harness/traces.ts';

let carrel: Installation;

beforeAll(() => {
  carrel = new Installation();
  knowScripted(carrel);
});
afterAll(() => carrel.dispose());

const begin = ['run', '--all', '--agent', 'scripted'];

/** Environment of the person: a gh that only records its arguments, and a remote to push to. */
function ghFor(project: SwarmProject): Record<string, string> {
  const folder = carrel.folder('gh');
  writeFileSync(
    join(folder, 'gh'),
    '#!/bin/sh\n[ "$1" = --version ] || printf \'%s|\' "$@" > "$0.said"; echo https://h/pr/7\n',
    {
      mode: 0o755,
    },
  );
  execFileSync('git', ['init', '-q', '--bare', join(folder, 'origin')]);
  project.git('remote', 'add', 'origin', join(folder, 'origin'));
  const safe = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' };
  return { PATH: `${folder}:${process.env.PATH}`, ...safe };
}

it('a task file that fails does not stop others, and is resumed at its failed story', async () => {
  const [first, second] = lines('login', 2) as [string, string];
  const project = new SwarmProject(carrel, 'failing', { login: [first, `exit 3`], docs: lines('docs', 1) });
  const env = ghFor(project);
  const { exitCode, stdout } = await carrel.run(['swarm', ...begin, '--pr', '--project', project.path], {
    env,
    timeoutMs: workMs,
  });
  expect([exitCode, stdout.trimEnd().split('\n').at(-1)]).toEqual([6, 'https://h/pr/7']);
  const view = await project.view();
  expect(view.containers.map(({ prUrl }) => prUrl)).toEqual(['https://h/pr/7', null]);
  expect(readFileSync(join(env.PATH!.split(':')[0]!, 'gh.said'), 'utf8')).toBe(
    'pr|create|--head|feat/docs|--title|Login|--body|- US-001: Story 1|',
  );
  expect(project.git('ls-remote', '--heads', 'origin')).toContain('refs/heads/feat/docs');
  expect(view.containers.map(({ status }) => status)).toEqual(['completed', 'failed']);
  expect(project.statuses('login')).toEqual(['completed', 'failed']);
  expect(project.landed('login')).toEqual(['US-001']);
  project.mend('login', 'exit 3', second);
  await project.swarm('resume');
  expect(project.wrong()).toEqual([]);
  await project.swarm('cleanup');
});

it('after rm --force of its sandbox, completed stories are on the host and the others are done again', async () => {
  const stories = lines('forced', 3).map((orders, index) => (index ? `wait /tmp/go-${index}\n${orders}` : orders));
  const project = new SwarmProject(carrel, 'forced', { forced: stories });
  const go = (...which: number[]) =>
    carrel.run(['exec', 'forced', '--', 'touch', ...which.map((index) => `/tmp/go-${index}`)]);
  await project.swarm(...begin, '--detach');
  const second = () =>
    project.until('the second story', ({ containers: [one] }) => one?.stories[1]?.status === 'in_progress');
  await until(() => project.statuses('forced')[0] === 'completed', 'the first story to be on the host', workMs);
  await second();
  expect(childrenOf((await project.view()).containers[0]!.acpPid!)).toHaveLength(1);
  await carrel.ok('rm', '--force', 'forced');
  const { containers } = await project.until('the loss', hasEnded);
  expect(containers[0]).toMatchObject({ acpPid: null, storyProgress: { completed: 1, failed: 1 } });
  await project.swarm('resume', '--detach');
  await second();
  await go(1);
  await project.until('the third story', ({ containers: [one] }) => one?.stories[1]?.status === 'completed');
  await carrel.ok('rm', '--force', 'forced');
  const { containers: lost } = await project.until('the loss', hasEnded);
  const { completed } = lost[0]!.storyProgress;
  expect(project.statuses('forced').filter((status) => status === 'completed')).toHaveLength(completed);
  await project.swarm('resume', '--detach');
  const allowed = async () => {
    await go(1, 2);
    return hasEnded(await project.view());
  };
  await until(allowed, 'the end', workMs);
  expect(project.wrong()).toEqual([]);
  await project.swarm('cleanup');
});

/** Starts a daemon that dies once, at this point. */
async function diesAt(point: string): Promise<number> {
  await carrel.run(['down']);
  await carrel.run(['up', '-d'], { env: { CARREL_CRASH_AT: point } });
  return carrel.daemonPid;
}

it('a daemon continues a swarm after earlier ones died between any two steps', async () => {
  const project = new SwarmProject(carrel, 'steps', { steps: lines('steps', 1) });
  const points = ['swarm:begun', 'swarm:told', 'swarm:fetched', 'swarm:noted'];
  for (const [index, point] of points.entries()) {
    const pid = await diesAt(point);
    if (index === 0) await carrel.run(['swarm', ...begin, '--detach', '--project', project.path]);
    await until(() => !isRunning(pid), `the daemon to die at ${point}`, workMs);
  }
  await carrel.ok('ls');
  const { containers } = await project.until('the end', hasEnded);
  expect(containers.map(({ status, attempt }) => [status, attempt])).toEqual([['completed', 1]]);
  expect(project.wrong()).toEqual([]);
  await project.swarm('cleanup');
});

it('after kills of daemon and adapter at random moments a resumed swarm completes every story once', async () => {
  const project = new SwarmProject(carrel, 'random', { one: lines('one', 3), two: lines('two', 3) });
  await project.swarm(...begin, '--detach');
  await survive(localPrey(carrel, project), 6, 700);
  expect([seed, project.wrong()]).toEqual([seed, []]);
});
