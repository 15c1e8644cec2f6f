// @needs root
/** A sandbox can do nothing against its removal, and leaves nothing behind. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { attackCommand, everyWay, processesNaming, readOr, type Testbed } from '../fixtures/attacks/testbed.ts';
import { type Installation, until } from '../harness/installation.ts';
import { groupsOf } from '../harness/traces.ts';

everyWay('removal', (testbed, way) => {
  describe.each(['command', 'exec'] as const)('a process that hides, from its %s', (entrance) => {
    it('is gone with the sandbox', async () => {
      const { carrel } = testbed();
      const mark = `${testbed().token}-${entrance}`;
      const name = `hiding-${entrance}`;
      const id = await hide(testbed(), entrance, name, mark);
      expect((await traces(testbed(), id)).length).toBeGreaterThan(way === 'rootless' ? 1 : 2);

      await carrel.ok('rm', '--force', name);
      expect(processesNaming(mark)).toEqual([]);
      expect(await traces(testbed(), id)).toEqual([]);
    });
  });

  it('a removal is not stopped by files in the folders of the sandbox, and follows no link out of them', async () => {
    const { carrel, canary } = testbed();
    const id = await createKept(carrel, 'litter');
    const report = await testbed().attack<{ deep: number }>('litter', { target: canary, depth: 60 }, 'exec', 'litter');
    expect(report.deep).toBeGreaterThan(4096);
    expect(await traces(testbed(), id)).not.toEqual([]);

    await carrel.ok('rm', '--force', 'litter');
    expect(await traces(testbed(), id)).toEqual([]);
    expect(existsSync(canary)).toBe(true);
  });

  it('a removal is not stopped by a command that ignores every signal', async () => {
    const { carrel } = testbed();
    const mark = `${testbed().token}-deaf`;
    const script = `trap '' TERM INT HUP QUIT; while :; do sleep 1; done # ${mark}`;
    const id = await createKept(carrel, 'deaf', 'sh', '-c', script);
    await until(() => processesNaming(mark).length > 0, 'the command to run');
    await carrel.ok('rm', '--force', 'deaf');
    expect(processesNaming(mark)).toEqual([]);
    expect(await traces(testbed(), id)).toEqual([]);
  });
});

/**
 * Starts the hiding process in a sandbox that keeps running, and returns the id of the sandbox once the process runs.
 */
async function hide({ carrel }: Testbed, entrance: 'command' | 'exec', name: string, mark: string): Promise<string> {
  const command = attackCommand('hide', { mark });
  const forked = ['sh', '-c', '"$@"; sleep infinity', 'sh', ...command];
  const id = await createKept(carrel, name, ...(entrance === 'command' ? forked : []));
  if (entrance === 'exec') await carrel.ok('exec', name, '--', ...command);
  await until(() => processesNaming(mark).length > 0, 'the process to hide');
  return id;
}

async function createKept(carrel: Installation, name: string, ...command: string[]): Promise<string> {
  const { id } = await carrel.json<{ id: string }>('create', '--name', name, '--', ...command);
  return id;
}

/** Everything on the machine that has the id of the sandbox in its name. */
async function traces({ carrel, inDocker }: Testbed, id: string): Promise<string[]> {
  const mounts = ['1', String(carrel.daemonPid)].filter((pid) => readOr(`/proc/${pid}/mountinfo`, '').includes(id));
  return [
    ...processesNaming(id).map((pid) => `process ${pid}`),
    ...mounts.map((pid) => `mount of ${pid}`),
    ...groupsOf(id),
    ...foldersNamed(carrel.home, id),
    ...(await inDocker(id)),
  ];
}

function foldersNamed(home: string, id: string): string[] {
  const engines = ['engine/run', 'engine/exit', 'engine/state/crun', 'engine/state/runc'];
  return ['sandboxes', ...engines, 'engine-docker/run', 'engine-docker/stage']
    .map((folder) => join(home, folder, id))
    .filter((folder) => existsSync(folder));
}
