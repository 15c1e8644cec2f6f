/**
 * The daemon in a container, on the Docker Engine that made it: its paths mean nothing to that engine, but for what was
 * mounted into its container.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { chown } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/lib/run.ts';
import { Dockerd, image } from '../harness/dockerd.ts';

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
  /** Its own programs are no concern of the engine's: that has others under these paths. */
  const mounts = () => [
    ...programs.flatMap((path) => ['--volume', `${path}:${path}:ro`]),
    ...['--volume', `${resolve('.')}:/carrel:ro`, '--volume', `${dockerd.socketPath}:/run/docker.sock`],
    ...['--volume', `${join(folder, 'home')}:/data/home`, '--volume', `${join(folder, 'project')}:/work/project`],
    ...['--tmpfs', '/tmp', '--env', 'CARREL_HOME=/data/home', '--env', 'PATH=/usr/bin:/usr/sbin'],
  ];
  const carrel = (...args: string[]) => inside(['node', '/carrel/bin/carrel', ...args]);
  const inside = (argv: readonly string[]) =>
    run(['docker', '--host', `unix://${dockerd.socketPath}`, 'exec', 'outer', ...argv], 60_000);

  it('sandboxes work on what was mounted into it, as everywhere', async () => {
    expect(await carrel('create', '--name', 'box', ...onDocker, '/work/project')).toMatchObject({ exitCode: 0 });
    const work = 'cat file; echo two >> file; echo x > ~/x; cat ~/x; whoami';
    expect((await carrel('exec', 'box', '--', 'sh', '-c', work)).stdout).toBe('one\nx\nagent\n');
    expect(readFileSync(join(folder, 'project/file'), 'utf8')).toBe('one\n');
    expect((await carrel('apply', 'box')).exitCode).toBe(0);
    expect(readFileSync(join(folder, 'project/file'), 'utf8')).toBe('one\ntwo\n');
    expect(statSync(join(folder, 'project/file')).uid).toBe(owner);
  });

  it('have volumes of their user under the names that these have', async () => {
    const volume = ['--volume', 'memory-bank:/data/memory-bank'];
    const command = ['run', '--rm', ...onDocker, ...volume, '--', 'sh', '-c'];
    expect(await carrel(...command, 'echo kept > /data/memory-bank/note')).toMatchObject({ exitCode: 0 });
    expect((await carrel(...command, 'cat /data/memory-bank/note')).stdout).toBe('kept\n');
    const [name] = readdirSync(join(folder, 'home/volumes')).filter((one) => one.startsWith('carrel-memory-bank-'));
    expect(readFileSync(join(folder, 'home/volumes', name!, 'note'), 'utf8')).toBe('kept\n');
  });

  it('are refused what the engine does not see, with a cure', async () => {
    await inside(['busybox', 'mkdir', '-p', '/srv/own']);
    await inside(['busybox', 'chown', String(owner), '/srv/own']);
    const { exitCode, stderr } = await carrel('run', ...onDocker, '--mode', 'bind', '/srv/own', '--', 'true');
    expect([exitCode, stderr]).toEqual([
      3,
      expect.stringMatching(/does not see \/srv\/own\n.*docker run -v HOST:PATH/),
    ]);
  });
});
