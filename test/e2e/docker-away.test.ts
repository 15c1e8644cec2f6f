// @needs root
/** A dockerd that is killed and comes back, while clients work with sandboxes on it. Containers go on without it. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { Dockerd, image } from '../harness/dockerd.ts';
import { gather, Installation, until } from '../harness/installation.ts';

let dockerd: Dockerd;
let carrel: Installation;
let project: string;

beforeAll(async () => {
  dockerd = await Dockerd.open(['--live-restore']);
  carrel = new Installation(null, dockerd);
  project = carrel.folder('project');
  writeFileSync(join(project, 'a.txt'), 'one\n');
  execFileSync('chown', ['-R', '12345:12345', project]);
});
afterAll(async () => {
  await carrel.dispose();
  await dockerd.dispose();
});
afterEach(() => carrel.clear());

const bound = () => ['--image', image, '--mode', 'bind', project];
const waiting = (file: string) => `until test -e ${file}; do sleep 0.1; done`;

function begin(...command: string[]) {
  const child = carrel.spawn(['run', '--name', 'box', ...bound(), '--', 'sh', '-c', ...command]);
  const [stdout, stderr] = [gather(child.stdout!), gather(child.stderr!)];
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { stdout, stderr, exited };
}

async function whileAway(run: ReturnType<typeof begin>, act: () => unknown = () => {}): Promise<void> {
  await dockerd.stop('SIGKILL');
  await until(() => /Docker Engine .*; waiting for it/.test(run.stderr()), 'the client to be told');
  await act();
  await dockerd.start();
  await until(() => run.stderr().includes('the engine answers again'), 'the client to be connected again');
}

it('run reports the lost engine at once, connects again, and shows all output of a quiet command', async () => {
  const run = begin(`echo one; ${waiting('first')}; echo two`);
  await until(() => run.stdout() === 'one\n', 'its first line');
  // Output that is written just when the engine goes away may be lost, so the command is quiet by then.
  const wroteAt = Date.now();
  await until(() => Date.now() - wroteAt > 1100, 'it to be quiet for a while');
  await whileAway(run);
  writeFileSync(join(project, 'first'), '');
  expect([await run.exited, run.stdout()]).toEqual([0, 'one\ntwo\n']);
});

it('run of a command that ends while the engine is away does not end with 0', async () => {
  const run = begin(`echo one; ${waiting('second')}; echo two; : > gone`);
  await until(() => run.stdout() === 'one\n' || run.stderr() !== '', 'its first line');
  expect(run.stderr()).toBe('');
  await whileAway(run, async () => {
    writeFileSync(join(project, 'second'), '');
    await until(() => existsSync(join(project, 'gone')), 'its command to end');
  });
  expect([await run.exited, run.stderr()]).toEqual([
    75,
    expect.stringMatching(/box ended with exit code 0, but .* some of its output may be missing\n.*carrel logs box/),
  ]);
});

it('changes of an ended sandbox are shown, applied and undone while the engine is away', async () => {
  await carrel.ok('create', '--name', 'done', '--image', image, project, '--', 'sh', '-c', 'echo two >> a.txt');
  await carrel.ok('wait', 'done');
  await carrel.ok('create', '--name', 'live', '--image', image, project);
  await dockerd.stop('SIGKILL');
  try {
    expect(await carrel.ok('diff', 'done')).toContain('+two');
    await carrel.ok('apply', 'done');
    expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
    await carrel.ok('undo', 'done');
    expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('one\n');
    const { exitCode, stderr } = await carrel.run(['diff', 'live']);
    expect([exitCode, stderr]).toEqual([75, expect.stringContaining('no Docker Engine answers')]);
  } finally {
    await dockerd.start();
  }
});
