/** Shares between sandboxes of both engines, plain containers of a real dockerd, and people. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ShareView, VerdictView } from '../../src/noun/share/api.ts';
import { type Dockerd, image } from '../harness/dockerd.ts';
import { Installation } from '../harness/installation.ts';
import { dockerEngines } from '../harness/podman.ts';

describe.each(dockerEngines)('shares with containers of %s', (engine, open) => {
  let dockerd: Dockerd;
  let carrel: Installation;
  let place: string;
  let count = 0;

  beforeAll(async () => {
    dockerd = await open();
    carrel = new Installation();
    carrel.write('home/config.yaml', `docker: {socket: ${dockerd.socketPath}}\nimages: [${image}]\n`);
    place = carrel.folder('shared');
  }, 120_000);
  afterAll(async () => {
    await carrel.dispose();
    await dockerd.dispose();
  }, 120_000);
  afterEach(async () => {
    await carrel.clear();
    for (const { name } of await shares()) await carrel.ok('share', 'revoke', name);
    const containers = await dockerd.docker('ps', '-aq');
    if (containers !== '') await dockerd.docker('rm', '-f', ...containers.split('\n'));
  });

  const shares = () => carrel.json<ShareView[]>('share', 'ls');
  const folder = () => {
    count += 1;
    const path = join(place, `folder-${count}`);
    mkdirSync(path, { mode: 0o750 });
    return path;
  };
  const container = (name: string, uid: number, ...options: string[]) =>
    dockerd.docker(
      'run',
      '-d',
      '--name',
      name,
      '--network',
      'none',
      // Podman's default is more than a machine may allow.
      '--ulimit',
      'nofile=1024:1024',
      '--ulimit',
      'nproc=1024:1024',
      '--user',
      `${uid}:${uid}`,
      ...options,
      image,
      'sleep',
      '1000',
    );
  const rendered = async (name: string) =>
    (await carrel.ok('share', 'render', name, '--for', 'docker'))
      .trim()
      .split('\n')
      .map((line) => line.split(' '));
  const onDocker = ['--engine', 'docker', '--image', image];
  const verify = async (name: string) => {
    const { exitCode, stdout } = await carrel.run(['--json', 'share', 'verify', name]);
    return { exitCode, verdicts: JSON.parse(stdout) as VerdictView[] };
  };

  it('lets sandboxes of both engines and a container read and write the same files, proved by verify', async () => {
    const path = folder();
    await carrel.ok('share', 'add', 'inbox', path, '--at', 'docker:web=/app/rooms', '--at', 'box=/data/rooms');
    await container('web', 4242, ...(await rendered('inbox'))[0]!);
    await carrel.ok('create', '--name', 'box');
    await carrel.ok('create', '--name', 'other', ...onDocker, '--share', 'inbox');
    expect(await verify('inbox')).toMatchObject({
      exitCode: 0,
      verdicts: [
        { consumer: 'docker:web', result: 'verified' },
        { consumer: 'sandbox:box', result: 'verified' },
        { consumer: 'sandbox:other', result: 'verified' },
      ],
    });
    expect(readdirSync(path)).toEqual([]);
    await dockerd.docker('exec', 'web', 'sh', '-c', 'umask 077; echo web > /app/rooms/file');
    await carrel.ok('exec', 'box', '--', 'sh', '-c', 'echo box >> /data/rooms/file');
    await carrel.ok('exec', 'other', '--', 'sh', '-c', 'echo other >> /shares/inbox/file');
    await dockerd.docker('exec', 'web', 'sh', '-c', 'echo again >> /app/rooms/file');
    expect(readFileSync(join(path, 'file'), 'utf8')).toBe('web\nbox\nother\nagain\n');
    expect((await shares())[0]!.consumers.map(({ state }) => state)).toEqual(['mounted', 'mounted', 'mounted']);
  });

  it('gives a share to a sandbox on Docker at once, and takes it at once', async () => {
    await carrel.ok('create', '--name', 'box', ...onDocker);
    await carrel.ok('share', 'add', 'inbox', folder(), '--at', 'box=/shares/inbox');
    expect(await verify('inbox')).toMatchObject({ exitCode: 0, verdicts: [{ result: 'verified' }] });
    await carrel.ok('exec', 'box', '--', 'touch', '/shares/inbox/file');
    await carrel.ok('share', 'revoke', 'inbox', 'box');
    const { exitCode } = await carrel.run(['exec', 'box', '--', 'touch', '/shares/inbox/other']);
    expect(exitCode).not.toBe(0);
    await carrel.ok('stop', 'box');
    await carrel.ok('start', 'box');
    expect((await carrel.run(['exec', 'box', '--', 'ls', '/shares/inbox'])).exitCode).not.toBe(0);
  });

  it('names the failing side and the hint of a container without the group, and of one without the mount', async () => {
    const path = folder();
    await carrel.ok(
      'share',
      'add',
      'inbox',
      path,
      '--at',
      'docker:bare=/app',
      '--at',
      'docker:none=/app',
      '--at',
      'docker:gone=/app',
      '--at',
      'docker:sealed=/app',
    );
    await container('bare', 4242, '-v', `${path}:/app`);
    await container('none', 4242);
    await container(
      'sealed',
      4242,
      ...[...(await rendered('inbox'))[3]!].map((word) => word.replace(/:\/app$/, '$&:ro')),
    );
    const { exitCode, verdicts } = await verify('inbox');
    const groupId = (await shares())[0]!.groupId;
    expect(exitCode).toBe(6);
    expect(verdicts).toMatchObject([
      {
        result: 'failed',
        side: 'consumer',
        reason: expect.stringContaining('denied'),
        hint: expect.stringContaining(`--group-add ${groupId}`),
      },
      {
        result: 'failed',
        side: 'consumer',
        reason: 'the folder is not mounted there',
        hint: 'carrel share render inbox --for docker',
      },
      { result: 'not verified', reason: 'there is no such container', hint: 'carrel share render inbox --for docker' },
      {
        result: 'failed',
        side: 'consumer',
        reason: '/app is mounted read-only there',
        hint: 'carrel share render inbox --for docker',
      },
    ]);
    expect(readdirSync(path)).toEqual([]);
  });

  it('gives the named uid of a container access without the group, and revokes it', async () => {
    const path = folder();
    await carrel.ok('share', 'add', 'inbox', path, '--at', 'docker:web@4242=/app', '--at', 'docker:reader@4243=/in:ro');
    const [web, reader] = await rendered('inbox');
    expect([web, reader]).toEqual([
      ['-v', `${path}:/app`],
      ['-v', `${path}:/in:ro`],
    ]);
    await container('web', 4242, ...web!);
    await container('reader', 4243, ...reader!);
    expect((await verify('inbox')).verdicts).toMatchObject([{ result: 'verified' }, { result: 'verified' }]);
    const { stderr } = await carrel.run(['share', 'revoke', 'inbox', 'docker:web']);
    expect(stderr).toContain(`the container web still has ${path} at /app`);
    await expect(dockerd.docker('exec', 'web', 'touch', '/app/x')).rejects.toThrow('denied');
    await expect(dockerd.docker('exec', 'web', 'ls', '/app')).rejects.toThrow('denied');
    expect(await dockerd.docker('exec', 'reader', 'ls', '/in')).toBe('');
  });

  // Podman has no docker-compose of its own.
  if (engine !== 'podman')
    it('renders services that the real docker-compose runs with the share', async () => {
      const path = join(place, `with $dollar, comma and 'quote'`);
      mkdirSync(path, { mode: 0o750 });
      await carrel.ok('share', 'add', 'inbox', path, '--at', 'docker:web=/app/rooms', '--at', 'docker:reader=/in:ro');
      const files = carrel.folder('compose');
      writeFileSync(join(files, 'share.yml'), await carrel.ok('share', 'render', 'inbox', '--for', 'compose'));
      const service = (name: string) =>
        `  ${name}: {image: ${image}, container_name: ${name}, command: [sleep, '1000'], user: '4242:4242', network_mode: none}\n`;
      writeFileSync(join(files, 'base.yml'), `services:\n${service('web')}${service('reader')}`);
      const env = { PATH: process.env.PATH, HOME: files, DOCKER_HOST: `unix://${dockerd.socketPath}` };
      const args = ['-f', 'base.yml', '-f', 'share.yml', 'up', '-d'];
      execFileSync('docker-compose', args, { cwd: files, env, stdio: 'pipe' });
      expect((await verify('inbox')).verdicts).toMatchObject([{ result: 'verified' }, { result: 'verified' }]);
    });

  it('proves access of a person, and names the folder above that keeps the person out', async () => {
    const path = folder();
    await carrel.ok('share', 'add', 'inbox', path, '--at', 'person:nobody');
    expect((await verify('inbox')).verdicts).toMatchObject([{ consumer: 'person:nobody', result: 'verified' }]);
    chmodSync(place, 0o700);
    const [failed] = (await verify('inbox')).verdicts;
    chmodSync(place, 0o755);
    expect(failed).toMatchObject({ consumer: 'person:nobody', result: 'failed', side: 'consumer' });
    expect(failed!.hint).toContain(`namei -l ${path}`);
  });
});
