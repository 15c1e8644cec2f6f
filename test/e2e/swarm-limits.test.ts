/** Stories and task files that take too long, or are silent for too long, on every engine. All of them at once: they wait. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { crashGrounds } from '../harness/crash-ground.ts';
import { hasEnded, knowScripted, type Plans, SwarmProject } from '../harness/swarm.ts';

describe.concurrent.each(crashGrounds)('on %s', { timeout: 120_000 }, (engine, ground) => {
  beforeAll(() => ground.open(), 120_000);
  afterAll(() => ground.close(), 120_000);

  /** How they ended, and the first thing that went wrong, by a daemon with these limits. */
  async function ends(limits: object, plans: Plans): Promise<unknown> {
    const carrel = ground.installation();
    try {
      knowScripted(carrel);
      appendFileSync(join(carrel.home, 'config.yaml'), `swarm: ${JSON.stringify(limits)}\n`);
      const project = new SwarmProject(carrel, 'swarm', plans);
      await project.swarm('run', '--all', '--agent', 'scripted', '--engine', engine, '-d');
      const { containers } = await project.until('all to end', hasEnded, 90_000);
      for (const name of Object.keys(plans)) expect(project.statuses(name)).toContain('failed');
      expect((await carrel.list()).map(({ state }) => state)).not.toContain('running');
      const told = containers.map((one) => [one.containerName, [one.status, one.reason, one.errors[0]]]);
      return Object.fromEntries(told);
    } finally {
      await carrel.dispose();
    }
  }

  it('a story that takes too long, and one whose agent is silent, have failed', async () => {
    const late = 'CONTAINER_TIMEOUT: US-001: the agent';
    const plans = { silent: ['append x 1\nwait /tmp/never'], talking: ['append x 1\ntalk 60000'] };
    expect(await ends({ storySeconds: 5, stallSeconds: 3 }, plans)).toEqual({
      silent: ['failed', null, `${late} said nothing for 3 s`],
      talking: ['failed', null, `${late} worked for more than 5 s`],
    });
  });

  it('a task file that takes too long is ended', async () => {
    const plans = { long: Array.from({ length: 9 }, () => 'talk 1500') };
    expect(await ends({ taskSeconds: 5 }, plans)).toEqual({
      long: [
        'failed',
        'CONTAINER_TIMEOUT: not done after 5 s',
        expect.stringMatching(/stopped|was not begun|waits for/),
      ],
    });
  });

  it('an adapter that says nothing any more is ended', async () => {
    expect(await ends({ silenceSeconds: 8 }, { mute: ['append x 1\nfreeze'] })).toEqual({
      mute: ['failed', 'CONTAINER_TIMEOUT: not a word for 8 s', undefined],
    });
  });
});
