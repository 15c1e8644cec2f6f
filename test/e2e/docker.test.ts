// @needs root
// @takes 25 s
/** The same commands on a Docker Engine: a real dockerd of the test's own. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { EngineView } from '../../src/noun/installation/api/engine.ts';
import { proveBank } from '../harness/bank.ts';
import { Dockerd, image } from '../harness/dockerd.ts';
import { Installation, until } from '../harness/installation.ts';
import { problemsOf, Talk } from '../harness/session.ts';

const owner = 12_345;

describe('carrel on docker', () => {
  let dockerd: Dockerd;
  let carrel: Installation;
  let project: string;
  /** Folder of a runtime that kills dockerd when it creates a container. */
  let fatal: string;

  beforeAll(async () => {
    fatal = mkdtempSync(join(tmpdir(), 'carrel-fatal-'));
    dockerd = await Dockerd.open(['--add-runtime', `crun=${join(fatal, 'crun')}`]);
    const script = `#!/bin/sh\ncase " $* " in *" create "*) kill -KILL $(cat ${dockerd.folder}/pid);; *) exec runc "$@";; esac\n`;
    writeFileSync(join(fatal, 'crun'), script, { mode: 0o755 });
    carrel = new Installation();
    await dockerd.docker('import', '--change', 'VOLUME /scratch', join(dockerd.folder, 'image.tar'), 'with-volume');
    await importWithoutShell(dockerd);
    await loadForeign(dockerd);
    const images = [image, 'with-volume', 'without-shell', 'foreign'];
    carrel.write('home/config.yaml', `docker: {socket: ${dockerd.socketPath}}\nimages: [${images}]\n`);
    project = carrel.folder('project');
    mkdirSync(join(project, 'src'));
    for (const [path, text] of Object.entries({ 'a.txt': 'one\n', 'keep.txt': 'kept\n', 'src/x': 'x\n' }))
      writeFileSync(join(project, path), text);
    execFileSync('chown', ['-R', `${owner}:${owner}`, project]);
  }, 120_000);
  afterAll(async () => {
    await carrel.dispose();
    await dockerd.dispose();
    rmSync(fatal, { recursive: true });
  }, 120_000);
  afterEach(() => carrel.clear());

  const docker = ['--engine', 'docker', '--image', image];

  it('has sessions: a question outlives the programs inside, and an allowed change is in the diff', async () => {
    await carrel.list();
    const body = { project, agent: 'demo', name: 'box', sandbox: { engine: 'docker' as const } };
    const talk = new Talk(carrel, await carrel.client.call('POST /v1/sessions', { body }));
    const allow = async () => {
      const { pending } = await talk.until('waiting');
      const { pendingId, options } = pending[0]!;
      return () => talk.answer(pendingId, options!.find(({ kind }) => kind === 'allow_once')!.id);
    };
    await talk.prompt('write lost.txt: one');
    const answer = await allow();
    await carrel.ok('exec', 'box', '--', 'pkill', '-9', '-f', 'carrel-agent-api|agent/session/main|demo-acp');
    await answer();
    await talk.until('idle');
    await talk.prompt('write new.txt: two');
    await (await allow())();
    await talk.until('idle');
    expect(await carrel.ok('diff', '--stat', 'box')).toContain('new.txt');
    const events = await talk.events();
    expect(problemsOf(events)).toEqual([]);
    expect(events).toEqual(await talk.inside());
  });

  it('has the memory bank, with its tools and agents that find them configured', () =>
    proveBank(carrel, '--engine', 'docker'));

  it('runs a command and passes its streams and its code through', async () => {
    const args = ['run', '--rm', ...docker, '--', 'sh', '-c', 'echo out; echo err >&2; exit 3'];
    expect(await carrel.run(args)).toEqual({ exitCode: 3, stdout: 'out\n', stderr: 'err\n' });
  });

  it('the engine is listed with its runtime, socket and version', async () => {
    const engines = await carrel.json<EngineView[]>('engine', 'ls');
    expect(engines.map(({ name, usable }) => [name, usable])).toEqual([
      ['local', true],
      ['docker', true],
    ]);
    expect(engines[1]).toMatchObject({ runtime: 'runc', at: dockerd.socketPath, reason: null });
    expect(engines[1]!.version).toMatch(/^Docker Engine \d+\.\d+/);
  });

  it('refuses an image that is not on the list of the owner', async () => {
    const { exitCode, stderr } = await carrel.run(['run', '--engine', 'docker', '--image', 'busybox', '--', 'true']);
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining('config.yaml')]);
    expect((await carrel.run(['run', '--image', image, '--', 'true'])).exitCode).toBe(2);
  });

  it.each([
    ['without-shell', /no sandbox can be made of without-shell: it has no sh in /],
    ['foreign', /no sandbox can be made of foreign: it is for linux\/s390x, and this engine runs linux\//],
  ])('refuses to create a sandbox of the image %s, with the reason', async (name, reason) => {
    const { exitCode, stderr } = await carrel.run(['create', '--engine', 'docker', '--image', name]);
    expect([exitCode, stderr]).toEqual([3, expect.stringMatching(reason)]);
    expect(await carrel.list()).toEqual([]);
    expect(await dockerd.docker('ps', '--all', '--quiet')).toBe('');
  });

  it('a container is named after its sandbox, and is found by its label', async () => {
    await carrel.ok('create', '--name', 'box', ...docker);
    const { id } = await carrel.show('box');
    const named = () => dockerd.docker('ps', '--filter', 'label=carrel.name=box', '--format', '{{.Names}}');
    expect(await named()).toBe(`carrel-box-${id}`);
    await dockerd.docker('rename', `carrel-box-${id}`, 'whatever');
    await carrel.killDaemon();
    expect(await carrel.ok('exec', 'box', '--', 'echo', 'found')).toBe('found\n');
    await carrel.ok('rm', '--force', 'box');
    expect(await dockerd.docker('ps', '--all', '--quiet')).toBe('');
  });

  it('a sandbox ends with the Docker Engine, is shown as ended, and starts again on its working copy', async () => {
    await carrel.ok('create', '--name', 'box', ...docker, project);
    await carrel.ok('exec', 'box', '--', 'sh', '-c', 'echo two >> a.txt');
    await dockerd.stop();
    try {
      const { exitCode, stderr } = await carrel.run(['exec', 'box', '--', 'true']);
      expect([exitCode, stderr]).toEqual([
        75,
        expect.stringContaining(`no Docker Engine answers at ${dockerd.socketPath}`),
      ]);
      expect(await carrel.list()).toMatchObject([{ name: 'box' }]);
      expect(await carrel.ok('run', '--rm', '--', 'echo', 'hi')).toBe('hi\n');
    } finally {
      await dockerd.start();
    }
    await until(async () => (await carrel.show('box')).state === 'failed', 'the end to be recorded');
    expect(await carrel.show('box')).toMatchObject({ exitCode: 143, reason: 'killed by SIGTERM' });
    await carrel.ok('start', 'box');
    expect(await carrel.ok('exec', 'box', '--', 'cat', 'a.txt')).toBe('one\ntwo\n');
  });

  it('a sandbox is shown in its last known state while the Docker Engine is away', async () => {
    await carrel.ok('create', '--name', 'box', ...docker);
    await dockerd.stop('SIGKILL');
    try {
      const away = { name: 'box', state: 'running', unseen: expect.stringContaining('no Docker Engine answers') };
      expect(await carrel.list()).toMatchObject([away]);
      expect(await carrel.show('box')).toMatchObject(away);
      for (const args of [['ls'], ['show', 'box']]) {
        const { exitCode, stdout, stderr } = await carrel.run(args);
        expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/box\s/)]);
        expect(stderr).toContain('carrel: box as last seen: no Docker Engine answers at');
      }
    } finally {
      await dockerd.start();
    }
    expect((await carrel.show('box')).unseen).toBeNull();
  });

  it('a sandbox is lost when another program removes its container, and can be started again', async () => {
    await carrel.ok('create', '--name', 'box', ...docker, project);
    await carrel.ok('exec', 'box', '--', 'sh', '-c', 'echo kept > kept');
    const { id } = await carrel.show('box');
    await dockerd.docker('rm', '--force', ...(await dockerd.docker('ps', '-q', '--filter', `name=${id}`)).split('\n'));
    await until(async () => (await carrel.show('box')).state !== 'running', 'the end to be recorded');
    expect(await carrel.show('box')).toMatchObject({ state: 'failed', reason: 'lost', exitCode: null });
    await carrel.ok('start', 'box');
    expect(await carrel.ok('exec', 'box', '--', 'cat', 'kept')).toBe('kept\n');
  });

  it('a sandbox keeps the output of earlier starts in its log', async () => {
    await carrel.ok('create', '--name', 'said', ...docker, '--', 'sh', '-c', 'echo here >> n; wc -l < n');
    await carrel.ok('wait', 'said');
    await carrel.ok('start', 'said');
    await carrel.ok('wait', 'said');
    expect(await carrel.ok('logs', 'said')).toBe('1\n2\n');
    expect(await carrel.ok('logs', '--tail', '1', 'said')).toBe('2\n');
    await carrel.ok('rm', 'said');
  });

  it('a sandbox keeps to its disk limit wherever it can write, and works on under the next daemon', async () => {
    const roomy = ['--engine', 'docker', '--image', 'with-volume', '--disk', '10m'];
    await carrel.ok('create', '--name', 'small', ...roomy, project);
    const write = 'for place; do head -c 50m /dev/zero > $place/big; stat -c %s $place/big; rm $place/big; done';
    const places = ['/workspace', '/home/agent', '/.data', '/scratch'];
    const { stdout, stderr } = await carrel.run(['exec', 'small', '--', 'sh', '-c', write, 'sh', ...places]);
    expect(stdout.split('\n').filter((size) => Number(size) > 10 * 1024 ** 2)).toEqual([]);
    expect(stderr.match(/I\/O error|No space left/g)).toHaveLength(3);
    expect(stderr).toMatch(/\/scratch\/big: Read-only file system/);
    expect((await carrel.show('small')).limits.advisory).toEqual([]);
    await carrel.ok('exec', 'small', '--', 'sh', '-c', 'echo two >> a.txt');
    await carrel.killDaemon();
    expect(await carrel.ok('diff', 'small')).toContain('+two');
    await carrel.ok('rm', '--force', 'small');
    expect(await dockerd.docker('volume', 'ls', '--quiet')).toBe('');
  });

  it.each(['stage', 'container'])(
    'a sandbox whose engine dies while making its %s fails with one error, and can be created later',
    async (at) => {
      const create = ['create', '--name', 'box', ...docker];
      const command = ['--', 'sh', '-c', 'echo run >> /.data/count; sleep 600'];
      const stage = join(carrel.home, 'engine-docker/stage');
      const made = { stage, container: join(dockerd.folder, 'data/containers') }[at]!;
      const creating = carrel.run([...create, '--runtime', 'crun', ...command]);
      // At the latest, the runtime kills the engine when the command would begin.
      const isMade = () => existsSync(made) && readdirSync(made).length > 0;
      await until(() => isMade() || !dockerd.isRunning, `its ${at}`);
      await dockerd.stop('SIGKILL');
      try {
        const { exitCode, stderr } = await creating;
        expect([exitCode, stderr]).toEqual([75, expect.stringMatching(/Docker Engine .*\n {2}hint: /)]);
        expect(readdirSync(stage)).toEqual([]);
      } finally {
        await dockerd.start();
      }
      // The next daemon looks for orphans.
      await carrel.ok('down');
      await carrel.ok(...create, ...command);
      const runs = async () => (await carrel.run(['exec', 'box', '--', 'cat', '/.data/count'])).stdout;
      await until(async () => (await runs()) !== '', 'its command to run');
      expect(await runs()).toBe('run\n');
      expect((await dockerd.docker('ps', '--all', '--quiet')).split('\n')).toHaveLength(1);
      await carrel.ok('rm', '--force', 'box');
      expect(await dockerd.docker('volume', 'ls', '--quiet')).toBe('');
    },
  );

  it('run fails with one error without a Docker Engine, and the local engine still works', async () => {
    const other = new Installation();
    writeFileSync(join(other.home, 'config.yaml'), 'docker: {socket: /nonexistent/docker.sock}\n');
    try {
      const { exitCode, stderr } = await other.run(['run', '--engine', 'docker', '--', 'true']);
      expect(exitCode).toBe(75);
      expect(stderr).toContain('/nonexistent/docker.sock');
      expect((await other.run(['run', '--rm', '--', 'echo', 'hi'])).stdout).toBe('hi\n');
    } finally {
      await other.dispose();
    }
  });
});

async function importWithoutShell(dockerd: Dockerd): Promise<void> {
  const root = join(dockerd.folder, 'bare');
  mkdirSync(join(root, 'bin'), { recursive: true });
  copyFileSync('/bin/busybox', join(root, 'bin/cat'));
  execFileSync('tar', ['-C', root, '-cf', `${root}.tar`, '.']);
  await dockerd.docker('import', `${root}.tar`, 'without-shell');
}

/** Loads an image for another architecture. */
async function loadForeign(dockerd: Dockerd): Promise<void> {
  const folder = join(dockerd.folder, 'foreign');
  mkdirSync(folder);
  copyFileSync(join(dockerd.folder, 'image.tar'), join(folder, 'layer.tar'));
  const digest = createHash('sha256')
    .update(readFileSync(join(folder, 'layer.tar')))
    .digest('hex');
  const rootfs = { type: 'layers', diff_ids: [`sha256:${digest}`] };
  writeFileSync(
    join(folder, 'config.json'),
    JSON.stringify({ architecture: 's390x', os: 'linux', config: {}, rootfs }),
  );
  const manifest = [{ Config: 'config.json', RepoTags: ['foreign:latest'], Layers: ['layer.tar'] }];
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
  execFileSync('tar', ['-C', folder, '-cf', `${folder}.tar`, '.']);
  await dockerd.docker('load', '--input', `${folder}.tar`);
}
