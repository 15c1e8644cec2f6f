/** The daemon is killed between every two steps of create, start, stop and remove; the next one ends what was begun. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CrashGround, crashGrounds, podmanGround } from '../harness/crash-ground.ts';
import { Installation, isRunning, until } from '../harness/installation.ts';
import { isRealRoot, isRepeated } from '../harness/machine.ts';
import { groupsOf } from '../harness/traces.ts';

let carrel: Installation;

/** Runs a command against a daemon that dies at `point`, and sees it die. */
async function crashDuring(point: string, ...args: string[]): Promise<void> {
  if (existsSync(join(carrel.home, 'carrel.sock'))) await carrel.ok('down');
  await carrel.run(['up', '-d'], { env: { CARREL_CRASH_AT: point } });
  const pid = carrel.daemonPid;
  await carrel.run(args);
  await until(() => !isRunning(pid), `the daemon to die at ${point}`);
}

/** Each line is one run of the command: it must never run twice. */
const counted = ['sh', '-c', 'echo run >> /home/agent/count; exec sleep infinity'];

describe.each(crashGrounds)('on %s', (engine, ground) => {
  beforeAll(() => ground.open());
  afterAll(() => ground.close());
  beforeEach(() => {
    carrel = ground.installation();
  });
  afterEach(() => carrel.dispose());

  create(ground, [
    ...[
      'start:prepared',
      ...(engine === 'local' ? ['start:noted', 'start:let-go'] : []),
      'start:staged',
      'start:created',
    ],
    ...['start:begun', 'start:started', 'after:start'],
  ]);
  stop(ground, engine, ['after:stop', 'conclude:recorded', 'after:conclude']);
  startAgain(['after:clear', 'after:renew', 'start:created', 'after:start']);
  remove(ground, [
    ...['after:stop', 'after:conclude', ...(engine === 'docker' ? ['remove:container'] : [])],
    ...['after:clear', 'forget:folder', 'after:forget'],
  ]);
  whileNoDaemonIsThere(ground, 'oom');
});

/** Where it is the engine that could make a difference. */
describe.each(isRealRoot && isRepeated ? ['podman'] : [])('on %s', () => {
  beforeAll(() => podmanGround.open());
  afterAll(() => podmanGround.close());
  beforeEach(() => {
    carrel = podmanGround.installation();
  });
  afterEach(() => carrel.dispose());

  create(podmanGround, ['start:created']);
  remove(podmanGround, ['remove:container']);
  // Podman 4.3 does not find what conmon noted of it.
  whileNoDaemonIsThere(podmanGround, 'killed by SIGKILL');
});

function create(ground: CrashGround, points: readonly string[]): void {
  it.each(points)('create survives a crash at %s: one running sandbox, its command run once', async (point) => {
    await crashDuring(point, 'create', '--name', 'box', '--', ...counted);
    await until(async () => (await carrel.show('box')).state === 'running', 'the sandbox to run');
    const count = () => carrel.run(['exec', 'box', '--', 'cat', '/home/agent/count']);
    await until(async () => (await count()).stdout !== '', 'the command to run');
    expect((await count()).stdout).toBe('run\n');
    expect(await carrel.list()).toHaveLength(1);
    // The keeper of what looked inside may still be on its way out.
    await until(async () => (await ground.running(carrel)) === 1, 'one to run');
  });
}

function stop(ground: CrashGround, engine: string, points: readonly string[]): void {
  it.each(points)('stop survives a crash at %s', async (point) => {
    await carrel.ok('create', '--name', 'box');
    const { id } = await carrel.show('box');
    // Only root has groups to give without somebody delegating one.
    if (isRealRoot && engine === 'local') expect(groupsOf(id)).not.toEqual([]);
    await crashDuring(point, 'stop', '--grace', '1', 'box');
    await until(async () => (await carrel.show('box')).state === 'stopped', 'the sandbox to be stopped');
    await until(() => groupsOf(id).length === 0, 'its group to be freed');
    await ground.expectFreed(carrel, id);
  });
}

function startAgain(points: readonly string[]): void {
  it.each(points)('start again survives a crash at %s', async (point) => {
    await carrel.ok('create', '--name', 'box', '--', ...counted);
    const count = () => carrel.run(['exec', 'box', '--', 'cat', '/home/agent/count']);
    await until(async () => (await count()).stdout !== '', 'the command to run');
    await carrel.ok('stop', '--grace', '1', 'box');
    await crashDuring(point, 'start', 'box');
    await until(async () => (await carrel.show('box')).state === 'running', 'the sandbox to run');
    await until(async () => (await count()).stdout.length >= 8, 'the command to run again');
    expect((await count()).stdout).toBe('run\nrun\n');
  });
}

function remove(ground: CrashGround, points: readonly string[]): void {
  it.each(points)('remove survives a crash at %s: nothing is left', async (point) => {
    await carrel.ok('create', '--name', 'box');
    const { id } = await carrel.show('box');
    await crashDuring(point, 'rm', '--force', 'box');
    await until(async () => (await carrel.list()).length === 0, 'the sandbox to be gone');
    expect(readdirSync(join(carrel.home, 'sandboxes'))).toEqual([]);
    await ground.expectFreed(carrel, id);
    await ground.expectNothing(carrel);
  });
}

function whileNoDaemonIsThere(ground: CrashGround, starved: string): void {
  const ended = () => until(async () => (await ground.running(carrel)) === 0, 'everything to end');

  it('a sandbox goes on without a daemon, and its end is recorded with its code', async () => {
    await carrel.script('box', 'until [ -e /.data/go ]; do sleep 0.05; done; echo done; exit 7');
    const { id } = await carrel.show('box');
    await carrel.killDaemon();
    carrel.write(`home/sandboxes/${id}/state/data/go`, '');
    await ended();
    expect(await carrel.show('box')).toMatchObject({
      state: 'failed',
      exitCode: 7,
      reason: 'exited with 7',
    });
    expect(await carrel.ok('logs', 'box')).toBe('done\n');
  });

  it.runIf(isRealRoot)('a death by signal and for want of memory without a daemon are recorded as such', async () => {
    const script = 'until [ -e /.data/go ]; do sleep 0.05; done; ';
    await carrel.script('signal', `${script} kill -SEGV $$`);
    const devour = `${script} exec python3 -c 'bytearray(200 << 20)'`;
    await carrel.ok('create', '--name', 'memory', '--memory', '32m', '--swap', '32m', '--', 'sh', '-c', devour);
    const ids = (await carrel.list()).map(({ id }) => id);
    await carrel.killDaemon();
    for (const id of ids) carrel.write(`home/sandboxes/${id}/state/data/go`, '');
    await ended();
    expect(await carrel.show('signal')).toMatchObject({ exitCode: 139, reason: 'killed by SIGSEGV' });
    expect(await carrel.show('memory')).toMatchObject({ exitCode: 137, reason: starved });
  });

  it('what the engine holds and no record owns is removed', async () => {
    await carrel.ok('create', '--name', 'box');
    await carrel.ok('down');
    carrel.removeDatabase();
    expect(await carrel.list()).toEqual([]);
    await ended();
    await until(
      () =>
        ground.expectNothing(carrel).then(
          () => true,
          () => false,
        ),
      'the orphan to be removed',
    );
  });

  it('what vanished behind our back, keeper and all, is lost', async () => {
    await carrel.ok('create', '--name', 'box');
    const { id } = await carrel.show('box');
    await carrel.killDaemon();
    await ground.removeBehindOurBack(carrel, id);
    expect(await carrel.show('box')).toMatchObject({ state: 'failed', reason: 'lost' });
  });
}

describe.runIf(isRealRoot)('the home was removed under a running sandbox', () => {
  beforeEach(() => {
    carrel = new Installation();
  });
  afterEach(() => carrel.dispose());

  it('the next daemon there ends what its groups still hold', async () => {
    await carrel.ok('create', '--name', 'box');
    const { id } = await carrel.show('box');
    await carrel.killDaemon();
    carrel.removeDatabase();
    for (const name of ['run', 'state']) rmSync(join(carrel.home, 'engine', name), { recursive: true });
    expect(await carrel.list()).toEqual([]);
    await until(() => groupsOf(id).length === 0, 'its group to be freed');
  });
});

describe('two at once', () => {
  beforeEach(() => {
    carrel = new Installation();
  });
  afterEach(() => carrel.dispose());

  it('one name: one wins, one gets conflict', async () => {
    await carrel.ok('up', '-d');
    const outcomes = await Promise.all([1, 2].map(() => carrel.run(['create', '--name', 'box'])));
    expect(outcomes.map(({ exitCode }) => exitCode).sort()).toEqual([0, 6]);
    expect(await carrel.list()).toHaveLength(1);
  });

  it('one sandbox is removed: it goes, and nobody is refused', async () => {
    await carrel.ok('create', '--name', 'box');
    await carrel.ok('stop', '--grace', '0', 'box');
    const outcomes = await Promise.all([1, 2, 3].map(() => carrel.run(['rm', 'box'])));
    for (const { exitCode, stderr } of outcomes) expect([0, 5], stderr).toContain(exitCode);
    expect(await carrel.list()).toEqual([]);
  });

  it('two daemons: one wins, and both commands are answered by it', async () => {
    const outcomes = await Promise.all([1, 2, 3].map(() => carrel.run(['ls'])));
    expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
  });
});
