/**
 * Time limits of agents, task files and adapters. Each test has one limit, the shortest that can be set, so
 * that a slow machine cannot reach another one first.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { crashTestbeds } from '../harness/crash-testbed.ts';
import type { Installation } from '../harness/installation.ts';
import { isRepeated } from '../harness/machine.ts';
import { hasEnded, knowScripted, SwarmProject } from '../harness/swarm.ts';

/** The adapter and the daemon enforce the limits; only the stop differs between engines. */
const testbeds = crashTestbeds.filter(([engine]) => isRepeated || engine === 'local');

describe.concurrent.each(testbeds)('on %s', (engine, testbed) => {
  beforeAll(() => testbed.open());
  afterAll(() => testbed.close());

  /** One task file with one story. */
  class Limited {
    readonly carrel: Installation = testbed.installation();
    readonly #project: SwarmProject;

    constructor(does: string) {
      knowScripted(this.carrel);
      this.#project = new SwarmProject(this.carrel, 'swarm', { box: [does] });
    }

    /** Sets limits, which the next daemon reads. */
    limit(limits: object): void {
      appendFileSync(join(this.carrel.home, 'config.yaml'), `swarm: ${JSON.stringify(limits)}\n`);
    }

    async run(): Promise<void> {
      await this.#project.swarm('run', '--all', '--agent', 'scripted', '--engine', engine, '-d');
    }

    /** Restarts the daemon with the limits once the story has begun: the new daemon measures from its own start. */
    async limitWhenBegun(limits: object): Promise<void> {
      await this.run();
      await this.#project.until('the story to begin', () => this.#project.statuses('box')[0] === 'in_progress');
      await this.carrel.ok('down');
      this.limit(limits);
      await this.carrel.ok('up', '-d');
    }

    /** The status and reason of the container, and its first error. */
    async outcome(): Promise<unknown> {
      const { containers } = await this.#project.until('its end', hasEnded);
      expect(this.#project.statuses('box')).toEqual(['failed']);
      expect((await this.carrel.list()).map(({ state }) => state)).not.toContain('running');
      return containers.map(({ status, reason, errors }) => [status, reason, errors[0]])[0];
    }
  }

  async function limited(does: string, check: (box: Limited) => Promise<void>): Promise<void> {
    const box = new Limited(does);
    try {
      await check(box);
    } finally {
      await box.carrel.dispose();
    }
  }

  it.each([
    ['an agent that says nothing', 'stallSeconds', 'wait /tmp/never', 'printed nothing for 1 s'],
    ['a story that takes too long', 'storySeconds', 'talk 600000', 'worked for more than 1 s'],
  ])('%s is ended after %s, and the story has failed', (_, limit, does, reason) =>
    limited(`append x 1\n${does}`, async (box) => {
      box.limit({ [limit]: 1 });
      await box.run();
      const late = `CONTAINER_TIMEOUT: US-001: the agent ${reason}`;
      expect(await box.outcome()).toEqual(['failed', late, late]);
    }),
  );

  it('a task file that takes too long is stopped, and its story has failed', () =>
    limited('talk 600000', async (box) => {
      await box.limitWhenBegun({ taskSeconds: 1 });
      const [late, error] = ['CONTAINER_TIMEOUT: not done after 1 s', 'US-001: stopped before it was finished'];
      expect(await box.outcome()).toEqual(['failed', late, error]);
    }));

  it('an adapter that sends no message is stopped, and its story fails', () =>
    limited('append x 1\nfreeze', async (box) => {
      await box.limitWhenBegun({ silenceSeconds: 1 });
      expect(await box.outcome()).toEqual(['failed', 'CONTAINER_TIMEOUT: no message for 1 s', undefined]);
    }));
});
