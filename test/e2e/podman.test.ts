// @needs root
/** The same commands on Podman: one of the test's own, behind the socket of a Docker Engine. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ProbeRow } from '../../src/kernel/engine/engine.ts';
import type { EngineView } from '../../src/noun/installation/api/engine.ts';
import { image } from '../harness/dockerd.ts';
import { gather, Installation, until } from '../harness/installation.ts';
import { Podman } from '../harness/podman.ts';
import { carrelOn } from '../harness/terminal.ts';

let podman: Podman;
let carrel: Installation;
let project: string;

beforeAll(async () => {
  podman = await Podman.open();
  carrel = new Installation(null, podman);
  project = carrel.folder('project');
  writeFileSync(join(project, 'a.txt'), 'one\n');
  execFileSync('chown', ['-R', '12345:12345', project]);
});
afterAll(async () => {
  await carrel.dispose();
  await podman.dispose();
});

it('Podman is listed and examined by its own name', async () => {
  const engines = await carrel.json<EngineView[]>('engine', 'ls');
  expect(engines[1]).toMatchObject({ name: 'docker', usable: true, runtime: 'runc', at: podman.socketPath });
  expect(engines[1]!.version).toMatch(/^Podman \d+\.\d+/);
  const { stdout } = await carrel.run(['--json', 'doctor'], { timeoutMs: 60_000 });
  const rows = (JSON.parse(stdout) as ProbeRow[]).filter(({ name }) => name.startsWith('docker'));
  expect(rows.filter(({ level }) => level !== 'ok')).toEqual([]);
  expect(rows[0]!.detail).toMatch(/^Podman /);
});

it('Podman is listed as not usable when no container starts, with its reason', async () => {
  await podman.configure({ init_path: '/nonexistent/catatonit' });
  try {
    const engines = await carrel.json<EngineView[]>('engine', 'ls');
    expect(engines[1]).toMatchObject({ usable: false, reason: expect.stringContaining('/nonexistent/catatonit') });
    const { exitCode, stderr } = await carrel.run(['run', '--image', image, '--', 'true']);
    expect([exitCode, stderr]).toEqual([75, expect.stringContaining('/nonexistent/catatonit')]);
  } finally {
    await podman.configure();
  }
});

it('run passes streams, input and exit codes through', async () => {
  const script = 'cat; echo err >&2; exit 3';
  const args = ['run', '--rm', '--image', image, '--', 'sh', '-c', script];
  expect(await carrel.run(args, { input: 'in\n' })).toEqual({ exitCode: 3, stdout: 'in\n', stderr: 'err\n' });
  expect((await carrel.run(['run', '--rm', '--', 'no-such-program'])).exitCode).toBe(127);
});

it('a shell ends with its terminal', async () => {
  await carrel.ok('create', '--name', 'shelled', '--image', image);
  const shell = carrelOn(carrel.home, ['shell', 'shelled']);
  await shell.has(/[$#] /);
  const inside = () => carrel.ok('exec', 'shelled', '--', 'sh', '-c', 'cat /proc/[0-9]*/cmdline | tr "\\0" " "');
  expect(await inside()).toContain('sh -l');
  shell.kill();
  await shell.ended;
  await until(async () => !(await inside()).includes('sh -l'), 'the shell to end');
  await carrel.ok('rm', '--force', 'shelled');
});

it('working copies support diff, snapshot, fork, apply and restore', async () => {
  await carrel.ok('create', '--name', 'box', '--disk', '64m', project);
  await carrel.ok('exec', 'box', '--', 'sh', '-c', 'echo two >> a.txt; echo new > b.txt');
  expect(await carrel.ok('diff', 'box')).toContain('+two');
  const { stderr } = await carrel.run(['exec', 'box', '--', 'sh', '-c', 'head -c 99m /dev/zero > big; rm big']);
  expect(stderr).toMatch(/No space left|I\/O error|write error/);
  await carrel.ok('snapshot', 'box', 'early');
  await carrel.ok('fork', 'box', 'twin');
  await carrel.ok('start', 'twin');
  expect(await carrel.ok('exec', 'twin', '--', 'cat', 'a.txt', 'b.txt')).toBe('one\ntwo\nnew\n');
  await carrel.ok('exec', 'box', '--', 'rm', 'b.txt');
  await carrel.ok('apply', 'box');
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
  await carrel.ok('stop', '--grace', '0', 'box');
  await carrel.ok('restore', 'box', 'early');
  await carrel.ok('start', 'box');
  expect(await carrel.ok('exec', 'box', '--', 'cat', 'b.txt')).toBe('new\n');
  await carrel.ok('rm', '--force', 'box', 'twin');
}, 120_000);

it('a sandbox has its network before its command starts, and reaches only allowed hosts', async () => {
  const script = 'curl --silent --output /dev/null --write-out %{http_code} http://refused.example/';
  expect(await carrel.ok('run', '--rm', '--network', 'allowed.example', '--', 'sh', '-c', script)).toBe('403');
});

it('a sandbox keeps running over a restart of Podman and a kill of the daemon', async () => {
  await carrel.script('ticks', 'n=0; while :; do n=$((n + 1)); echo $n; sleep 0.1; done');
  const listen = async () => {
    const client = carrel.spawn(['attach', 'ticks']);
    const heard = gather(client.stdout!);
    await until(() => /\d\n\d+\n/.test(heard()), 'two ticks');
    client.kill('SIGKILL');
    return Number(/^\d+/.exec(heard())![0]);
  };
  const first = await listen();
  await podman.stop('SIGKILL');
  try {
    const { exitCode, stderr } = await carrel.run(['exec', 'ticks', '--', 'true']);
    expect([exitCode, stderr]).toEqual([75, expect.stringContaining(`answers at ${podman.socketPath}`)]);
    expect(Number(await carrel.ok('logs', '--tail', '1', 'ticks'))).toBeGreaterThanOrEqual(first);
  } finally {
    await podman.start();
  }
  expect(await carrel.ok('exec', 'ticks', '--', 'echo', 'here')).toBe('here\n');
  await carrel.killDaemon();
  expect(await listen()).toBeGreaterThan(first);
  await carrel.ok('stop', '--grace', '5', 'ticks');
  const lines = (await carrel.ok('logs', 'ticks')).trim().split('\n').map(Number);
  expect(lines).toEqual(lines.map((_, index) => index + 1));
  await carrel.ok('rm', 'ticks');
}, 120_000);
