/** The same commands on a Docker Engine: a real dockerd of the test's own. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApplyView, ChangesView, EngineView } from '../../src/api/routes.ts';
import { Dockerd, image } from '../harness/dockerd.ts';
import { Installation } from '../harness/installation.ts';

const owner = 12_345;

describe('on docker', () => {
  let dockerd: Dockerd;
  let carrel: Installation;
  let project: string;

  beforeAll(async () => {
    dockerd = await Dockerd.open();
    carrel = new Installation();
    writeFileSync(join(carrel.home, 'config.yaml'), `docker: {socket: ${dockerd.socketPath}}\nimages: [${image}]\n`);
    project = carrel.folder('project');
    mkdirSync(join(project, 'src'));
    for (const [path, text] of Object.entries({ 'a.txt': 'one\n', 'keep.txt': 'kept\n', 'src/x': 'x\n' }))
      writeFileSync(join(project, path), text);
    execFileSync('chown', ['-R', `${owner}:${owner}`, project]);
  }, 120_000);
  afterAll(async () => {
    await carrel.dispose();
    await dockerd.dispose();
  }, 120_000);

  const docker = ['--engine', 'docker', '--image', image];
  const changes = async (name: string) =>
    (await carrel.json<ChangesView>('diff', name)).changes.map(({ status, path }) => `${status} ${path}`);

  it('runs a command and passes its streams and its code through', async () => {
    const args = ['run', '--rm', ...docker, '--', 'sh', '-c', 'echo out; echo err >&2; exit 3'];
    expect(await carrel.run(args)).toEqual({ exitCode: 3, stdout: 'out\n', stderr: 'err\n' });
  });

  it('is listed with what it runs on', async () => {
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

  it('works on a working copy that is reviewed, taken over, kept and forked as anywhere', async () => {
    await carrel.ok('create', '--name', 'box', ...docker, project);
    const agent = (name: string, script: string) => carrel.ok('exec', name, '--', 'sh', '-c', script);
    await agent('box', 'echo two >> a.txt; rm -r src; mkdir src; echo new > src/new; rm keep.txt');
    expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('one\n');
    const all = ['M a.txt', 'D keep.txt', 'A src/new', 'D src/x'];
    expect(await changes('box')).toEqual(all);
    await carrel.ok('snapshot', 'box', 'first');
    await carrel.ok('fork', 'box', 'fork');
    await carrel.ok('start', 'fork');
    expect(await agent('fork', 'cat a.txt; ls src')).toBe('one\ntwo\nnew\n');
    const taken = JSON.parse(await carrel.ok('--json', 'apply', 'box')) as ApplyView;
    expect(taken.blocked).toBeNull();
    expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
    await carrel.ok('undo', 'box');
    expect(readFileSync(join(project, 'src/x'), 'utf8')).toBe('x\n');
    await carrel.ok('stop', '--grace', '0', 'box');
    await carrel.ok('start', 'box');
    expect(await changes('box')).toEqual(all);
    await carrel.ok('rm', '--force', 'box', 'fork');
  });

  it('still has what earlier starts wrote', async () => {
    await carrel.ok('create', '--name', 'said', ...docker, '--', 'sh', '-c', 'echo here >> n; wc -l < n');
    await carrel.ok('wait', 'said');
    await carrel.ok('start', 'said');
    await carrel.ok('wait', 'said');
    expect(await carrel.ok('logs', 'said')).toBe('1\n2\n');
    expect(await carrel.ok('logs', '--tail', '1', 'said')).toBe('2\n');
    await carrel.ok('rm', 'said');
  });

  it('is found again by the next daemon, and lost when somebody else removed it', async () => {
    await carrel.ok('create', '--name', 'found', ...docker);
    await carrel.killDaemon();
    expect(await carrel.ok('exec', 'found', '--', 'echo', 'still here')).toBe('still here\n');
    const { id } = await carrel.show('found');
    const [container] = (await dockerd.docker('ps', '-q', '--filter', `label=carrel.id=${id}`)).split('\n');
    await carrel.killDaemon();
    await dockerd.docker('rm', '--force', container!);
    expect(await carrel.show('found')).toMatchObject({ state: 'failed', reason: 'lost' });
    await carrel.ok('rm', 'found');
  });

  it('is one clear error without a Docker Engine, and the embedded engine goes on', async () => {
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
