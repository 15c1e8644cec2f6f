// @needs root
// @takes 25 s
/** The docker engine after crashes: of its own process between two steps, and of the Docker Engine itself. */
import { spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDockerEngine } from '../../src/kernel/engine/docker/docker.ts';
import { containerName } from '../../src/kernel/engine/docker/naming.ts';
import type { Launch } from '../../src/kernel/engine/engine.ts';
import { codeOf, exitedWith, killedBy } from '../conformance/engine/trial.ts';
import { until } from '../conformance/engine/wait.ts';
import { sampleLaunch } from '../fixtures/launch.ts';
import { type DockerSetup, dockerSetup, outputOf } from '../harness/docker-engine.ts';
import { Dockerd } from '../harness/dockerd.ts';
import { dockerEngines } from '../harness/podman.ts';

describe.each(dockerEngines)('on %s', (engine, open) => {
  const isPodman = engine === 'podman';
  let dockerd: Dockerd;
  let setup: DockerSetup;

  beforeAll(async () => {
    dockerd = await open();
  });
  afterAll(() => dockerd.dispose());

  beforeEach(async () => {
    setup = await dockerSetup(dockerd);
  });
  afterEach(async () => {
    for (const id of await setup.engine.list()) await setup.engine.remove(id, null);
    expect(await dockerd.docker('ps', '--all', '--quiet')).toBe('');
    expect(await dockerd.docker('volume', 'ls', '--quiet')).toBe('');
    for (const name of ['run', 'stage']) expect(readdirSync(join(setup.folder, 'engine', name))).toEqual([]);
    expect(readdirSync(join(setup.folder, 'engine', 'paused'))).toEqual([]);
    await setup.engine.dispose();
    await setup.cleanup();
  });

  /** Runs a script with the built engine in a process of its own, which is killed at the point. */
  function crash(point: string, script: string): void {
    const module = JSON.stringify(join(process.cwd(), 'dist/kernel/engine/docker/docker.js'));
    const options = { folder: join(setup.folder, 'engine'), installation: setup.installation };
    const opened = `openDockerEngine(${JSON.stringify({ ...options, socketPath: dockerd.socketPath })})`;
    const text = `import { openDockerEngine } from ${module}; const engine = ${opened}; ${script}`;
    const { signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', text], {
      env: { ...process.env, CARREL_CRASH_AT: point },
      encoding: 'utf8',
    });
    expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: '' });
  }

  function counting(code: number): Launch {
    const base = setup.launch({ command: setup.commands.count('runs', code) });
    const [lower, folder] = ['lower', 'layers'].map((name) => join(setup.folder, name)) as [string, string];
    for (const path of [lower, join(folder, 'upper'), join(folder, 'work')]) mkdirSync(path, { recursive: true });
    return { ...base, mounts: [...base.mounts, { kind: 'overlay', lower, folder, target: '/workspace' }] };
  }

  function exit(id: string) {
    return until('the exit', async () => {
      const found = await setup.engine.inspect(id, null);
      return found.kind === 'exited' ? found.exit : null;
    });
  }

  describe('a crash of the daemon', () => {
    const points = { 'start:staged': 'absent', 'start:created': 'created' } as const;
    for (const [point, kind] of Object.entries(points)) {
      it(`at ${point} leaves a sandbox that the next start finishes, once`, async () => {
        const launch = counting(3);
        crash(point, `await engine.start(${JSON.stringify(launch)})`);
        expect((await setup.engine.inspect(launch.id, null)).kind).toBe(kind);
        expect(await setup.engine.list()).toEqual([launch.id]);
        await setup.engine.start(launch);
        expect(await exit(launch.id)).toEqual(exitedWith(3));
        expect(await setup.shared.lines('runs')).toBe(1);
      });

      it(`at ${point} leaves a sandbox that remove removes`, async () => {
        const launch = counting(3);
        crash(point, `await engine.start(${JSON.stringify(launch)})`);
        await setup.engine.remove(launch.id, null);
        expect(await setup.engine.list()).toEqual([]);
      });
    }

    it('at start:created leaves a sandbox that is absent after stop', async () => {
      const launch = counting(3);
      crash('start:created', `await engine.start(${JSON.stringify(launch)})`);
      await setup.engine.stop(launch.id, null, 10_000);
      expect(await setup.engine.list()).toEqual([]);
      expect(await setup.shared.lines('runs')).toBe(0);
    });

    it('after the command began does not make the next start run it again', async () => {
      const launch = counting(4);
      crash('start:begun', `await engine.start(${JSON.stringify(launch)})`);
      await setup.engine.start(launch);
      expect(await exit(launch.id)).toEqual(exitedWith(4));
      expect(await setup.shared.lines('runs')).toBe(1);
    });

    it('during a pause leaves a sandbox that the next inspect resumes', async () => {
      const launch = setup.launch({ command: setup.commands.tick('ticks') });
      const { handle } = await setup.engine.start(launch);
      crash('pause:held', `await engine.pause(${JSON.stringify(launch.id)}, ${JSON.stringify(handle)})`);
      expect((await setup.engine.inspect(launch.id, handle)).kind).toBe('running');
      const before = await setup.shared.lines('ticks');
      await until('it to go on', async () => ((await setup.shared.lines('ticks')) > before ? true : null));
    });

    it('half-way through remove leaves a sandbox that the next remove finishes', async () => {
      const launch = counting(5);
      await setup.engine.start(launch);
      await exit(launch.id);
      crash('remove:container', `await engine.remove(${JSON.stringify(launch.id)}, null)`);
      expect((await setup.engine.inspect(launch.id, null)).kind).toBe('absent');
      expect(await setup.engine.list()).toEqual([launch.id]);
      await setup.engine.remove(launch.id, null);
    });
  });

  describe('a container that another program changes', () => {
    it('is absent after a removal', async () => {
      const launch = counting(0);
      const { handle } = await setup.engine.start({ ...launch, command: [] });
      await dockerd.docker('rm', '--force', containerName(launch.hostname, launch.id));
      expect(await setup.engine.inspect(launch.id, handle)).toEqual({ kind: 'absent' });
      expect(await setup.engine.inspect(launch.id, null)).toEqual({ kind: 'absent' });
      expect(await codeOf(setup.engine.attach(launch.id, handle))).toBe('not_ready');
    });

    it('is reported as paused after a pause, which resume and stop end', async () => {
      const launch = setup.launch({ command: setup.commands.exitOnTerm(6) });
      const { handle } = await setup.engine.start(launch);
      const name = containerName(launch.hostname, launch.id);
      await dockerd.docker('pause', name);
      expect((await setup.engine.inspect(launch.id, handle)).kind).toBe('paused');
      expect(await codeOf(setup.engine.pause(launch.id, handle))).toBe('conflict');
      await setup.engine.resume(launch.id, handle);
      expect((await setup.engine.inspect(launch.id, handle)).kind).toBe('running');
      await dockerd.docker('pause', name);
      await setup.engine.stop(launch.id, handle, 10_000);
      expect((await setup.engine.inspect(launch.id, handle)).kind).toBe('exited');
    });
  });

  describe('a restart of the Docker Engine', () => {
    it('needs no new connection: sandboxes keep running under Podman, and end with dockerd', async () => {
      const launch = setup.launch({ command: setup.commands.wait });
      const { handle } = await setup.engine.start(launch);
      const hinted = new Promise<void>((resolve) => {
        setup.engine.onChange((id) => void (id === launch.id && resolve()));
      });
      await dockerd.stop();
      expect(await codeOf(setup.engine.inspect(launch.id, handle))).toBe('unavailable');
      await dockerd.start();
      if (isPodman) expect((await setup.engine.inspect(launch.id, handle)).kind).toBe('running');
      else expect(await exit(launch.id)).toEqual(killedBy('SIGTERM', 15));
      await hinted;
      const next = setup.launch({ command: setup.commands.exit(0) });
      await setup.engine.start(next);
      expect(await exit(next.id)).toEqual(exitedWith(0));
    });

    it('that was killed leaves a sandbox that is reported as exited or still runs', async () => {
      const launch = setup.launch({ command: setup.commands.wait });
      const { handle } = await setup.engine.start(launch);
      await dockerd.stop('SIGKILL');
      expect(await codeOf(setup.engine.inspect(launch.id, handle))).toBe('unavailable');
      await dockerd.start();
      const found = await setup.engine.inspect(launch.id, handle);
      expect(['exited', 'running']).toContain(found.kind);
      await setup.engine.remove(launch.id, handle);
      expect(await setup.engine.inspect(launch.id, handle)).toEqual({ kind: 'absent' });
    });
  });
});

it('with live-restore, sandboxes survive a restart of the Docker Engine, and can be stopped and started', async () => {
  const other = await Dockerd.open(['--live-restore']);
  const setup = await dockerSetup(other);
  const { engine, commands, shared } = setup;
  const agent = 0x7000_03e8;
  try {
    const [lower, folder] = ['lower', 'layers'].map((name) => join(setup.folder, name)) as [string, string];
    for (const path of [lower, join(folder, 'upper'), join(folder, 'work')]) mkdirSync(path, { recursive: true });
    const plain = setup.launch({ command: commands.tick('ticks') });
    const overlay = { kind: 'overlay', lower, folder, target: '/workspace' } as const;
    const volume = join(setup.folder, 'volume');
    mkdirSync(volume);
    chownSync(volume, agent, agent);
    const named = {
      kind: 'bind',
      source: volume,
      target: '/data',
      readonly: false,
      mapOwner: true,
      volume: 'carrel-session-1',
    } as const;
    const launch = { ...plain, mounts: [...plain.mounts, overlay, named] };
    const { handle } = await engine.start(launch);
    await other.docker('exec', containerName(launch.hostname, launch.id), 'touch', '/workspace/kept');
    await other.stop();
    const before = await shared.lines('ticks');
    await until('it to go on', async () => ((await shared.lines('ticks')) > before ? true : null));
    await other.start();
    expect((await engine.inspect(launch.id, handle)).kind).toBe('running');
    await engine.stop(launch.id, handle, 10_000);
    expect((await engine.inspect(launch.id, null)).kind).toBe('exited');
    await engine.remove(launch.id, handle);
    expect(await engine.list()).toEqual([]);
    const again = { ...launch, command: ['/bin/sh', '-c', 'ls /workspace'] };
    expect(await outputOf(engine, again)).toBe('kept\n');
    // Another folder under the same name, as after a restore.
    renameSync(volume, `${volume}-before`);
    mkdirSync(volume);
    chownSync(volume, agent, agent);
    expect(await outputOf(engine, { ...again, command: ['/bin/sh', '-c', 'touch /data/new'] })).toBe('');
    expect(readdirSync(volume)).toEqual(['new']);
    // This dockerd still counts some volumes as used; after its restart it does not.
    await other.stop();
    await other.start();
    expect(await outputOf(engine, again)).toBe('kept\n');
    expect(await other.docker('volume', 'ls', '--quiet')).toBe('');
    await engine.dispose();
  } finally {
    await other.dispose();
    await setup.cleanup();
  }
});

it('without a Docker Engine every request is refused with a hint', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-engine-'));
  const socketPath = join(tmpdir(), 'no-such.sock');
  const engine = openDockerEngine({ folder, installation: 'none', socketPath });
  const fault = { code: 'unavailable', message: expect.stringContaining(socketPath), hint: expect.any(String) };
  await expect(engine.start(sampleLaunch({}))).rejects.toMatchObject(fault);
  await expect(engine.inspect('0123456789abcdef', null)).rejects.toMatchObject(fault);
  await expect(engine.list()).rejects.toMatchObject(fault);
  expect(await engine.probe()).toEqual([expect.objectContaining({ name: 'docker', level: 'failure' })]);
  engine.onChange(() => {});
  await engine.dispose();
  rmSync(folder, { recursive: true });
});
