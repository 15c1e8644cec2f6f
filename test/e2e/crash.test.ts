/** The daemon is killed between every two steps of create, start, stop and remove; the next one ends what was begun. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Installation, isRunning, type SandboxView, until } from '../harness/installation.ts';
import { isRealRoot } from '../harness/machine.ts';
import { childrenOf, groupsOf, processesMentioning } from '../harness/traces.ts';

let carrel: Installation;

beforeEach(() => {
  carrel = new Installation();
});
afterEach(() => carrel.dispose());

/** Runs a command against a daemon that dies at `point`, and sees it die. */
async function crashDuring(point: string, ...args: string[]): Promise<void> {
  if (existsSync(join(carrel.home, 'carrel.sock'))) await carrel.ok('down');
  await carrel.run(['up', '-d'], { env: { CARREL_CRASH_AT: point } });
  const pid = carrel.daemonPid;
  await carrel.run(args);
  await until(() => !isRunning(pid), `the daemon to die at ${point}`);
}

/** What a sandbox that does not run may not hold: a process, a group, a place in the runtime. */
function expectFreed(id: string): void {
  expect(processesMentioning(carrel.home, 'conmon')).toEqual([]);
  expect(groupsOf(id)).toEqual([]);
  expect(readdirSync(join(carrel.home, 'engine/state/crun'))).toEqual([]);
}

/** Each line is one run of the command: it must never run twice. */
const counted = ['sh', '-c', 'echo run >> /home/agent/count; exec sleep infinity'];

describe('create', () => {
  it.each([
    'start:prepared',
    'start:noted',
    'start:staged',
    'start:created',
    'start:begun',
    'start:started',
    'after:start',
  ])('survives a crash at %s: one running sandbox, its command run once', async (point) => {
    await crashDuring(point, 'create', '--name', 'box', '--', ...counted);
    await until(async () => (await carrel.show('box')).state === 'running', 'the sandbox to run');
    const count = () => carrel.run(['exec', 'box', '--', 'cat', '/home/agent/count']);
    await until(async () => (await count()).stdout !== '', 'the command to run');
    expect((await count()).stdout).toBe('run\n');
    expect(await carrel.json<SandboxView[]>('ls')).toHaveLength(1);
    expect(processesMentioning(carrel.home, 'conmon')).toHaveLength(1);
  });
});

describe('stop', () => {
  it.each(['after:stop', 'conclude:recorded', 'after:conclude'])('survives a crash at %s', async (point) => {
    await carrel.ok('create', '--name', 'box');
    const { id } = await carrel.show('box');
    // Only root has groups to give without somebody delegating one.
    if (isRealRoot) expect(groupsOf(id)).not.toEqual([]);
    await crashDuring(point, 'stop', '--grace', '1', 'box');
    await until(async () => (await carrel.show('box')).state === 'stopped', 'the sandbox to be stopped');
    await until(() => groupsOf(id).length === 0, 'its group to be freed');
    expectFreed(id);
  });
});

describe('start again', () => {
  it.each(['after:clear', 'after:renew', 'start:created', 'after:start'])('survives a crash at %s', async (point) => {
    await carrel.ok('create', '--name', 'box', '--', ...counted);
    await carrel.ok('stop', '--grace', '1', 'box');
    await crashDuring(point, 'start', 'box');
    await until(async () => (await carrel.show('box')).state === 'running', 'the sandbox to run');
    const count = () => carrel.run(['exec', 'box', '--', 'cat', '/home/agent/count']);
    await until(async () => (await count()).stdout.length >= 8, 'the command to run again');
    expect((await count()).stdout).toBe('run\nrun\n');
  });
});

describe('remove', () => {
  it.each(['after:stop', 'after:conclude', 'after:clear', 'forget:folder', 'after:forget'])(
    'survives a crash at %s: nothing is left',
    async (point) => {
      await carrel.ok('create', '--name', 'box');
      const { id } = await carrel.show('box');
      await crashDuring(point, 'rm', '--force', 'box');
      await until(async () => (await carrel.json<SandboxView[]>('ls')).length === 0, 'the sandbox to be gone');
      expect(readdirSync(join(carrel.home, 'sandboxes'))).toEqual([]);
      expect(readdirSync(join(carrel.home, 'engine/run'))).toEqual([]);
      expect(readdirSync(join(carrel.home, 'engine/exit'))).toEqual([]);
      expectFreed(id);
    },
  );
});

describe('while no daemon is there', () => {
  it('a sandbox goes on, and its end is recorded with its code', async () => {
    await carrel.script('box', 'until [ -e /.data/go ]; do sleep 0.05; done; echo done; exit 7');
    const { id } = await carrel.show('box');
    await carrel.killDaemon();
    carrel.write(`home/sandboxes/${id}/state/data/go`, '');
    await until(() => processesMentioning(carrel.home, 'conmon').length === 0, 'the command to end');
    expect(await carrel.show('box')).toMatchObject({
      state: 'failed',
      exitCode: 7,
      reason: 'exited with 7',
    });
    expect(await carrel.ok('logs', 'box')).toBe('done\n');
  });

  it.runIf(isRealRoot)('a death by signal and for want of memory are recorded as such', async () => {
    const script = 'until [ -e /.data/go ]; do sleep 0.05; done; ';
    await carrel.script('signal', `${script} kill -SEGV $$`);
    await carrel.ok(
      'create',
      '--name',
      'memory',
      '--memory',
      '32m',
      '--swap',
      '32m',
      '--',
      'sh',
      '-c',
      `${script} exec python3 -c 'bytearray(200 << 20)'`,
    );
    const ids = (await carrel.json<SandboxView[]>('ls')).map(({ id }) => id);
    await carrel.killDaemon();
    for (const id of ids) carrel.write(`home/sandboxes/${id}/state/data/go`, '');
    await until(() => processesMentioning(carrel.home, 'conmon').length === 0, 'both to end');
    expect(await carrel.show('signal')).toMatchObject({ exitCode: 139, reason: 'killed by SIGSEGV' });
    expect(await carrel.show('memory')).toMatchObject({ exitCode: 137, reason: 'oom' });
  });

  it('what the engine holds and no record owns is removed', async () => {
    await carrel.ok('create', '--name', 'box');
    await carrel.ok('down');
    carrel.removeDatabase();
    expect(await carrel.json<SandboxView[]>('ls')).toEqual([]);
    await until(() => readdirSync(join(carrel.home, 'engine/run')).length === 0, 'the orphan to be removed');
    expect(processesMentioning(carrel.home, 'conmon')).toEqual([]);
  });

  it('what vanished behind our back, keeper and all, is lost', async () => {
    await carrel.ok('create', '--name', 'box');
    await carrel.killDaemon();
    const [keeper] = processesMentioning(carrel.home, 'conmon');
    const [init] = childrenOf(keeper!);
    process.kill(keeper!, 'SIGKILL');
    process.kill(init!, 'SIGKILL');
    await until(() => !isRunning(init!), 'the sandbox to be gone');
    expect(await carrel.show('box')).toMatchObject({ state: 'failed', reason: 'lost' });
  });
});

describe('two at once', () => {
  it('one name: one wins, one gets conflict', async () => {
    await carrel.ok('up', '-d');
    const outcomes = await Promise.all([1, 2].map(() => carrel.run(['create', '--name', 'box'])));
    expect(outcomes.map(({ exitCode }) => exitCode).sort()).toEqual([0, 6]);
    expect(await carrel.json<SandboxView[]>('ls')).toHaveLength(1);
  });

  it('two daemons: one wins, and both commands are answered by it', async () => {
    const outcomes = await Promise.all([1, 2, 3].map(() => carrel.run(['ls'])));
    expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
  });
});
