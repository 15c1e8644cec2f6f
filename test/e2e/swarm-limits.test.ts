/** Stories and task files that take too long, or are silent for too long, on every engine. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { crashGrounds } from '../harness/crash-ground.ts';
import type { Installation } from '../harness/installation.ts';
import { hasEnded, knowScripted, SwarmProject } from '../harness/swarm.ts';

describe.each(crashGrounds)('on %s', (engine, ground) => {
  let carrel: Installation;

  beforeAll(async () => {
    await ground.open();
    carrel = ground.installation();
    knowScripted(carrel, 'swarm: { storySeconds: 3, stallSeconds: 1, taskSeconds: 7, silenceSeconds: 5 }\n');
  }, 120_000);
  afterAll(async () => {
    await carrel.dispose();
    await ground.close();
  }, 120_000);

  it('are ended, and told of as such', async () => {
    const project = new SwarmProject(carrel, 'late', {
      silent: ['append x 1\nwait /tmp/never'],
      talking: ['append x 1\ntalk 60000'],
      stopped: ['append x 1\nfreeze'],
      long: Array.from({ length: 6 }, () => 'talk 1500'),
    });
    await project.swarm('run', '--all', '--agent', 'scripted', '--engine', engine, '-d');
    const { containers } = await project.until('all to end', hasEnded, 55_000);
    const told = Object.fromEntries(
      containers.map(({ containerName, status, reason, errors }) => [containerName, [status, reason, errors[0]]]),
    );
    const late = 'CONTAINER_TIMEOUT: US-001: the agent';
    expect(told).toEqual({
      silent: ['failed', null, `${late} said nothing for 1 s`],
      talking: ['failed', null, `${late} worked for more than 3 s`],
      stopped: ['failed', 'CONTAINER_TIMEOUT: not a word for 5 s', undefined],
      long: ['failed', 'CONTAINER_TIMEOUT: not done after 7 s', expect.stringContaining('stopped')],
    });
    for (const name of ['silent', 'talking', 'stopped']) expect(project.statuses(name)).toEqual(['failed']);
    expect(new Set(project.statuses('long'))).toEqual(new Set(['completed', 'failed', 'pending']));
    expect((await carrel.json<{ state: string }[]>('ls')).map(({ state }) => state)).not.toContain('running');
  });
});
