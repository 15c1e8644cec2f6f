// @needs root
/**
 * The daemon runs in a container and uses the Docker Engine that started it. That engine knows none of the daemon's
 * paths, except what was mounted into its container.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { chown } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/lib/process/run.ts';
import type { EngineView } from '../../src/noun/installation/api/engine.ts';
import { Dockerd, image } from '../harness/dockerd.ts';
import { until } from '../harness/installation.ts';

const owner = 12_345;
const onDocker = ['--engine', 'docker', '--image', image];

describe('in a container', () => {
  let dockerd: Dockerd;
  let folder: string;

  beforeAll(async () => {
    dockerd = await Dockerd.open();
    folder = mkdtempSync(join(tmpdir(), 'carrel-in-docker-'));
    for (const name of ['home', 'project']) mkdirSync(join(folder, name));
    writeFileSync(join(folder, 'home/config.yaml'), `docker: {socket: /run/docker.sock}\nimages: [${image}]\n`);
    writeFileSync(join(folder, 'project/file'), 'one\n');
    for (const path of ['project', 'project/file']) await chown(join(folder, path), owner, owner);
    await dockerd.docker('run', '--detach', '--name', 'outer', ...capabilities, ...mounts(), image, 'sleep', '600');
  });
  afterAll(async () => {
    await carrel('rm', '--force', 'box');
    await carrel('down');
    await dockerd.docker('rm', '--force', 'outer');
    await dockerd.dispose();
    rmSync(folder, { recursive: true });
  });

  const capabilities = ['--network', 'none', '--cap-add', 'SYS_ADMIN', '--security-opt', 'seccomp=unconfined'];
  const programs = ['/usr', '/bin', '/lib', '/lib64'];
  /** Programs are mounted for the container only: the engine has others under these paths. */
  const mounts = () => [
    ...programs.flatMap((path) => ['--volume', `${path}:${path}:ro`]),
    ...['--volume', `${resolve('.')}:/carrel:ro`, '--volume', `${dockerd.socketPath}:/run/docker.sock`],
    ...['--volume', `${join(folder, 'home')}:/data/home`, '--volume', `${join(folder, 'project')}:/work/project`],
    ...['--tmpfs', '/tmp', '--env', 'CARREL_HOME=/data/home', '--env', 'PATH=/usr/bin:/usr/sbin'],
  ];
  const carrel = (...args: string[]) => inside(['node', '/carrel/bin/carrel', ...args]);
  const inside = (argv: readonly string[]) =>
    run(['docker', '--host', `unix://${dockerd.socketPath}`, 'exec', 'outer', ...argv], 60_000);

  it('a sandbox works on a project that is mounted into the container, and apply writes to it', async () => {
    expect(await carrel('create', '--name', 'box', ...onDocker, '/work/project')).toMatchObject({ exitCode: 0 });
    const work = 'cat file; echo two >> file; echo x > ~/x; cat ~/x; whoami';
    expect((await carrel('exec', 'box', '--', 'sh', '-c', work)).stdout).toBe('one\nx\nagent\n');
    expect(readFileSync(join(folder, 'project/file'), 'utf8')).toBe('one\n');
    expect((await carrel('apply', 'box')).exitCode).toBe(0);
    expect(readFileSync(join(folder, 'project/file'), 'utf8')).toBe('one\ntwo\n');
    expect(statSync(join(folder, 'project/file')).uid).toBe(owner);
  });

  it('a sandbox keeps its volume in the volume folder of the home', async () => {
    const volume = ['--volume', 'memory-bank:/data/memory-bank'];
    const command = ['run', '--rm', ...onDocker, ...volume, '--', 'sh', '-c'];
    expect(await carrel(...command, 'echo kept > /data/memory-bank/note')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await carrel(...command, 'cat /data/memory-bank/note')).toEqual({
      exitCode: 0,
      stdout: 'kept\n',
      stderr: '',
    });
    const [name] = readdirSync(join(folder, 'home/volumes')).filter((one) => one.startsWith('carrel-memory-bank-'));
    expect(readFileSync(join(folder, 'home/volumes', name!, 'note'), 'utf8')).toBe('kept\n');
  });

  it('a folder that the engine does not see is refused with a hint', async () => {
    await inside(['busybox', 'mkdir', '-p', '/srv/own']);
    await inside(['busybox', 'chown', String(owner), '/srv/own']);
    const { exitCode, stderr } = await carrel('run', ...onDocker, '--mode', 'bind', '/srv/own', '--', 'true');
    expect([exitCode, stderr]).toEqual([
      3,
      expect.stringMatching(/does not see \/srv\/own\n.*docker run -v HOST:PATH/),
    ]);
  });

  it('an engine that cannot start a sandbox is listed as not usable, with the reason', async () => {
    const engines = JSON.parse((await carrel('--json', 'engine', 'ls')).stdout) as EngineView[];
    const [local, docker] = engines;
    expect(docker).toMatchObject({ name: 'docker', usable: true, reason: null });
    expect(local).toMatchObject({ name: 'local', usable: false, reason: expect.stringContaining('/sys/fs/cgroup/') });
    const { exitCode, stderr } = await carrel('run', '--engine', 'local', '--', 'true');
    expect([exitCode, stderr]).toEqual([75, expect.stringContaining('/sys/fs/cgroup/')]);
  });
});

describe('in a container with a dockerd of its own', () => {
  let dockerd: Dockerd;
  let folder: string;
  const capabilities = ['SYS_ADMIN', 'NET_ADMIN', 'SYS_PTRACE'].flatMap((name) => ['--cap-add', name]);
  const unconfined = ['seccomp', 'apparmor', 'systempaths'].flatMap((one) => ['--security-opt', `${one}=unconfined`]);
  const inside = (...argv: string[]) =>
    run(['docker', '--host', `unix://${dockerd.socketPath}`, 'exec', 'own', ...argv], 60_000);
  const carrel = (...args: string[]) => inside('node', '/carrel/bin/carrel', ...args);

  beforeAll(async () => {
    dockerd = await Dockerd.open();
    folder = mkdtempSync(join(tmpdir(), 'carrel-in-docker-'));
    for (const name of ['state', 'state/home', 'project']) mkdirSync(join(folder, name));
    writeFileSync(join(folder, 'project/file'), 'one\n');
    const volumes = [
      ...['/usr', '/bin', '/lib', '/lib64'].map((path) => `${path}:${path}:ro`),
      ...[`${resolve('.')}:/carrel:ro`, '/sys/fs/cgroup:/sys/fs/cgroup:rw'],
      ...[`${join(folder, 'state')}:/var/lib/carrel`, `${join(folder, 'project')}:/work/project`],
    ];
    const places = [...volumes.flatMap((one) => ['--volume', one]), '--tmpfs', '/tmp', '--tmpfs', '/run'];
    const env = ['--env', 'CARREL_HOME=/var/lib/carrel/home', '--env', 'PATH=/usr/bin:/usr/sbin'];
    const group = `/${dockerd.group}/own`;
    const bare = ['--bridge=none', '--iptables=false', '--ip6tables=false', '--cgroup-parent', group];
    const command = ['dockerd', '--data-root', '/var/lib/carrel/docker', ...bare];
    const options = [
      '--detach',
      '--name',
      'own',
      '--network',
      'none',
      ...capabilities,
      ...unconfined,
      ...places,
      ...env,
    ];
    await dockerd.docker('run', ...options, image, ...command);
    await until(async () => (await inside('docker', 'version')).exitCode === 0, 'the dockerd inside');
  });
  afterAll(async () => {
    await carrel('down', '--all');
    await dockerd.docker('rm', '--force', 'own');
    await dockerd.dispose();
    rmSync(folder, { recursive: true });
  });

  it('both engines are usable and run commands, and an apply writes to the project', async () => {
    const engines = JSON.parse((await carrel('--json', 'engine', 'ls')).stdout) as EngineView[];
    expect(engines.map(({ usable, reason }) => [usable, reason])).toEqual([
      [true, null],
      [true, null],
    ]);
    expect((await carrel('run', '--rm', '--', 'echo', 'embedded')).stdout).toBe('embedded\n');
    await carrel('create', '--name', 'box', '--engine', 'docker', '/work/project');
    await carrel('exec', 'box', '--', 'sh', '-c', 'echo two >> file');
    expect(await carrel('apply', 'box')).toMatchObject({ exitCode: 0 });
    expect(readFileSync(join(folder, 'project/file'), 'utf8')).toBe('one\ntwo\n');
    await carrel('rm', '--force', 'box');
  });
});
