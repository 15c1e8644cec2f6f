// @takes 40 s
/** Swarms with the real daemon and the real adapter in real sandboxes, on every engine. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/lib/data/sqlite.ts';
import type { SwarmExportView } from '../../src/noun/swarm/api.ts';
import type { SwarmContainer } from '../../src/noun/swarm/model/swarm.ts';
import { crashTestbeds, swarmTestbeds } from '../harness/crash-testbed.ts';
import type { Installation } from '../harness/installation.ts';
import { hasEnded, knowScripted, lines, SwarmProject } from '../harness/swarm.ts';

describe.each(swarmTestbeds)('on %s', (_, testbed) => {
  let carrel: Installation;

  beforeAll(async () => {
    await testbed.open();
    carrel = testbed.installation();
    knowScripted(carrel);
  });
  afterAll(async () => {
    await carrel.dispose();
    await testbed.close();
  });

  it('every story of every file is done once, its commits reach the host, and scripts can read the state', async () => {
    const project = new SwarmProject(carrel, 'whole', {
      login: lines('login', 2),
      docs: lines('docs', 1),
      ui: lines('ui', 1),
    });
    testbed.give(project.repository);
    const said = await project.swarm('run', '--all', '--agent', 'scripted', '--max', '2', ...testbed.options);
    expect(said.split('\n')).toEqual(
      expect.arrayContaining([
        'login US-002 completed',
        expect.stringMatching(/^docs completed 1\/1 [0-9a-f]{10} in refs\//),
      ]),
    );
    expect(project.wrong()).toEqual([]);
    const exported = JSON.parse(await project.swarm('status', '--json')) as SwarmExportView;
    expect(JSON.parse(await project.swarm('export'))).toEqual(exported);
    expect(exported.containers.map(({ containerName, status }) => `${containerName}\t${status}`).join('\n')).toBe(
      (await project.swarm('list')).trimEnd(),
    );
    expect(exported.containers.find(({ containerName }) => containerName === 'login')).toMatchObject({
      taskFilePath: '.carrel/tasks/2026-01-31-login-tasks.json',
      branchName: 'feat/login',
      status: 'completed',
      storyProgress: { total: 2, completed: 2, failed: 0, inProgress: 0, pending: 0, skipped: 0 },
    });
    expect(JSON.parse(await project.swarm('cleanup'))).toEqual({ removed: 3 });
    expect(await carrel.json('ls')).toEqual([]);
  });
});

describe.each(crashTestbeds)('on %s', (engine, testbed) => {
  let carrel: Installation;

  beforeAll(async () => {
    await testbed.open();
    carrel = testbed.installation();
    knowScripted(carrel);
  });
  afterAll(async () => {
    await carrel.dispose();
    await testbed.close();
  });

  const begin = (project: SwarmProject, ...args: string[]) =>
    project.swarm('run', '--all', '--agent', 'scripted', '--engine', engine, ...args);

  it('the exit of a sandbox is reported, and never means that its stories are completed', async () => {
    const names = ['first', 'zero', 'three', 'killed', 'memory', 'gone', 'held'];
    const plans = Object.fromEntries(names.map((name) => [name, [`append x ${name}\nwait /tmp/go`]]));
    const project = new SwarmProject(carrel, 'rows', plans);
    await begin(project, '--max', '1', '-d');
    await project.until('the first to work', ({ containers }) =>
      containers.some(({ stories }) => stories[0]?.status === 'in_progress'),
    );
    await carrel.killDaemon();
    const commands = {
      zero: ['true'],
      three: ['sh', '-c', 'exit 3'],
      killed: ['sh', '-c', 'kill -9 $$'],
      memory: ['tail', '/dev/zero'],
      gone: ['sleep', '1000'],
      held: ['sleep', '1000'],
    };
    replaceCommands(carrel, commands);
    await project.swarm('stop', 'first');
    await project.until('the last to run', ({ containers }) =>
      containers.some(({ containerName, status }) => containerName === 'gone' && status === 'running'),
    );
    const { id } = await carrel.show('gone');
    await carrel.killDaemon();
    await testbed.removeWithoutDaemon(carrel, id);
    await carrel.ok('ls');
    await project.until('the last but one to be gone', ({ containers }) =>
      containers.some(({ containerName, status }) => containerName === 'held' && status === 'running'),
    );
    await testbed.pauseWithoutDaemon(carrel, (await carrel.show('held')).id);
    const { containers } = await project.until('all to end', hasEnded);
    const ends = Object.fromEntries(containers.map((one) => [one.containerName, `${one.status} ${one.reason}`]));
    expect(ends).toEqual({
      first: 'stopped null',
      zero: 'failed no_completion',
      three: 'failed AGENT_CRASH: ended with 3',
      killed: 'failed AGENT_CRASH: ended by SIGKILL',
      // A slow Docker Engine may report the end before the reason.
      memory: expect.stringMatching(engine === 'docker' ? /CONTAINER_OOM$|ended by SIGKILL$/ : /CONTAINER_OOM$/),
      gone: 'failed lost',
      held: 'stopped null',
    });
    expect(names.flatMap((name) => project.statuses(name))).not.toContain('completed');
    await project.swarm('cleanup');
    await carrel.ok('rm', '--force', ...names);
  });
});

interface Found {
  readonly id: string;
  readonly value: string;
}

/**
 * Replaces the commands of waiting containers while no daemon runs: their sandboxes run these instead of the adapter.
 */
function replaceCommands({ home }: Installation, commands: Readonly<Record<string, readonly string[]>>): void {
  const db = openSqlite(join(home, 'carrel.db'));
  const find = db.prepare<[string], Found>("SELECT id, value FROM rows WHERE kind = 'container' AND name = ?");
  const update = db.prepare("UPDATE rows SET value = ? WHERE kind = 'container' AND id = ?");
  try {
    for (const [name, command] of Object.entries(commands)) {
      const found = find.get(name)!;
      const container = JSON.parse(found.value) as SwarmContainer;
      const limits = { memoryBytes: 64 * 1024 ** 2, swapBytes: 64 * 1024 ** 2 };
      const work = { ...container.work, request: { ...container.work!.request, command, limits } };
      update.run(JSON.stringify({ ...container, work }), found.id);
    }
  } finally {
    db.close();
  }
}
