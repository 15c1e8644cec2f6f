/** Stories and task files that take too long, or are silent for too long, on every engine. All of them at once: they wait. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { crashGrounds } from '../harness/crash-ground.ts';
import { hasEnded, knowScripted, type Plans, SwarmProject } from '../harness/swarm.ts';

describe.concurrent.each(crashGrounds)('on %s', (engine, ground) => {
  beforeAll(() => ground.open());
  afterAll(() => ground.close());

  /**
   * How they ended, and the first thing that went wrong, by a daemon with these limits, which are longer than it takes an
   * adapter or an agent to say its first word.
   */
  async function ends(limits: object, plans: Plans): Promise<unknown> {
    const carrel = ground.installation();
    try {
      knowScripted(carrel);
      appendFileSync(join(carrel.home, 'config.yaml'), `swarm: ${JSON.stringify(limits)}\n`);
      const project = new SwarmProject(carrel, 'swarm', plans);
      await project.swarm('run', '--all', '--agent', 'scripted', '--engine', engine, '-d');
      const { containers } = await project.until('all to end', hasEnded);
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
    const [silent, talking] = [`${late} said nothing for 8 s`, `${late} worked for more than 12 s`];
    expect(await ends({ storySeconds: 12, stallSeconds: 8 }, plans)).toEqual({
      silent: ['failed', silent, silent],
      talking: ['failed', talking, talking],
    });
  });

  it('a task file that takes too long is ended', async () => {
    // The second one is under way when the time is over, and not on its way onto the branch.
    const plans = { long: ['say done', 'talk 60000', 'say done'] };
    expect(await ends({ taskSeconds: 12 }, plans)).toEqual({
      long: ['failed', 'CONTAINER_TIMEOUT: not done after 12 s', 'US-002: stopped before it was finished'],
    });
  });

  it('an adapter that says nothing any more is ended', async () => {
    expect(await ends({ silenceSeconds: 12 }, { mute: ['append x 1\nfreeze'] })).toEqual({
      mute: ['failed', 'CONTAINER_TIMEOUT: not a word for 12 s', undefined],
    });
  });
});
