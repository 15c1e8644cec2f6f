/** The daemon is killed between every two steps of create, start, stop and remove; the next one ends what was begun. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { readIfThere } from '../../src/lib/file/file.ts';
import type { CrashTestbed } from '../harness/crash-testbed.ts';
import { type Installation, until } from '../harness/installation.ts';
import { isRealRoot } from '../harness/machine.ts';
import { groupsOf } from '../harness/traces.ts';

let carrel: Installation;

/** Each line is one run of the command: it must never run twice. */
const counted = ['sh', '-c', 'echo run >> /.data/count; exec sleep infinity'];

async function runsOf(name: string): Promise<string> {
  const { id } = await carrel.show(name);
  return readIfThere(join(carrel.home, 'sandboxes', id, 'state/data/count')) ?? '';
}

/** The points at which the daemon is killed, by the operation that it works on. */
interface Points {
  readonly create?: readonly string[];
  readonly stop?: readonly string[];
  readonly startAgain?: readonly string[];
  readonly remove?: readonly string[];
  /**
   * The recorded reason of a command that ran out of memory without a daemon. If given, tests without a daemon run,
   * too.
   */
  readonly starved?: string;
}

export function crashes(testbed: CrashTestbed, points: Points): void {
  beforeAll(async () => {
    await testbed.open();
    carrel = testbed.installation();
  });
  afterEach(() => carrel.clear());
  afterAll(async () => {
    await carrel.dispose();
    await testbed.close();
  });

  create(testbed, points.create ?? []);
  stop(testbed, points.stop ?? []);
  startAgain(points.startAgain ?? []);
  remove(testbed, points.remove ?? []);
  if (points.starved !== undefined) whileNoDaemonIsThere(testbed, points.starved);
}

function create(testbed: CrashTestbed, points: readonly string[]): void {
  it.each(points)('create survives a crash at %s: one running sandbox, its command run once', async (point) => {
    await carrel.crashDuring(point, 'create', '--name', 'box', '--', ...counted);
    await until(async () => (await carrel.show('box')).state === 'running', 'the sandbox to run');
    await until(async () => (await runsOf('box')) !== '', 'the command to run');
    expect(await runsOf('box')).toBe('run\n');
    expect(await carrel.list()).toHaveLength(1);
    // The keeper of the exec that read the count may still be exiting.
    await until(async () => (await testbed.running(carrel)) === 1, 'one to run');
  });
}

function stop(testbed: CrashTestbed, points: readonly string[]): void {
  it.each(points)('stop survives a crash at %s', async (point) => {
    await carrel.ok('create', '--name', 'box');
    const { id } = await carrel.show('box');
    // Without a delegated group, only root can make control groups.
    if (isRealRoot && testbed.groups) expect(groupsOf(id)).not.toEqual([]);
    await carrel.crashDuring(point, 'stop', '--grace', '1', 'box');
    await until(async () => (await carrel.show('box')).state === 'stopped', 'the sandbox to be stopped');
    await until(() => groupsOf(id).length === 0, 'its group to be freed');
    await testbed.expectFreed(carrel, id);
  });
}

function startAgain(points: readonly string[]): void {
  it.each(points)('start again survives a crash at %s', async (point) => {
    await carrel.ok('create', '--name', 'box', '--', ...counted);
    await until(async () => (await runsOf('box')) !== '', 'the command to run');
    await carrel.ok('stop', '--grace', '1', 'box');
    await carrel.crashDuring(point, 'start', 'box');
    await until(async () => (await carrel.show('box')).state === 'running', 'the sandbox to run');
    await until(async () => (await runsOf('box')).length >= 8, 'the command to run again');
    expect(await runsOf('box')).toBe('run\nrun\n');
  });
}

function remove(testbed: CrashTestbed, points: readonly string[]): void {
  it.each(points)('remove survives a crash at %s: nothing is left', async (point) => {
    await carrel.ok('create', '--name', 'box');
    const { id } = await carrel.show('box');
    await carrel.crashDuring(point, 'rm', '--force', 'box');
    await until(async () => (await carrel.list()).length === 0, 'the sandbox to be gone');
    expect(readdirSync(join(carrel.home, 'sandboxes'))).toEqual([]);
    await testbed.expectFreed(carrel, id);
    await testbed.expectNothing(carrel);
  });
}

function whileNoDaemonIsThere(testbed: CrashTestbed, starved: string): void {
  const ended = () => until(async () => (await testbed.running(carrel)) === 0, 'everything to end');

  it('a sandbox keeps running without a daemon, and its exit code is recorded', async () => {
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

  it.runIf(isRealRoot)('an exit by signal or out of memory while no daemon runs is recorded as such', async () => {
    const waitFor = (name: string) => `until [ -e /.data/${name} ]; do sleep 0.05; done`;
    await carrel.script('signal', `${waitFor('go')}; kill -SEGV $$`);
    const devour = `${waitFor('go')}; python3 -c 'bytearray(200 << 20)'; ${waitFor('noticed')}; kill -KILL $$`;
    await carrel.ok('create', '--name', 'memory', '--memory', '32m', '--swap', '32m', '--', 'sh', '-c', devour);
    const [signal, memory] = [(await carrel.show('signal')).id, (await carrel.show('memory')).id];
    const say = (id: string, name: string) => carrel.write(`home/sandboxes/${id}/state/data/${name}`, '');
    await carrel.killDaemon();
    for (const id of [signal, memory]) say(id, 'go');
    if (starved === 'oom') await testbed.noticesOutOfMemory(carrel, memory);
    say(memory, 'noticed');
    await ended();
    expect(await carrel.show('signal')).toMatchObject({ exitCode: 139, reason: 'killed by SIGSEGV' });
    expect(await carrel.show('memory')).toMatchObject({ exitCode: 137, reason: starved });
  });

  it('a sandbox in the engine without a record is removed', async () => {
    await carrel.ok('create', '--name', 'box');
    await carrel.ok('down');
    carrel.removeDatabase();
    expect(await carrel.list()).toEqual([]);
    await ended();
    await until(
      () =>
        testbed.expectNothing(carrel).then(
          () => true,
          () => false,
        ),
      'the orphan to be removed',
    );
  });

  it('a sandbox that was removed outside of carrel becomes failed with reason lost', async () => {
    await carrel.ok('create', '--name', 'box');
    const { id } = await carrel.show('box');
    await carrel.killDaemon();
    await testbed.removeWithoutDaemon(carrel, id);
    expect(await carrel.show('box')).toMatchObject({ state: 'failed', reason: 'lost' });
  });
}
