/** Sessions whose processes are killed at random, again and again. */
import { copyFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Dockerd } from '../harness/dockerd.ts';
import { Installation } from '../harness/installation.ts';
import { isRepeated } from '../harness/machine.ts';
import { createRootlessAccount, type RootlessAccount } from '../harness/rootless.ts';
import { Talk } from '../harness/session.ts';
import { Campaign } from '../harness/session-campaign.ts';
import { firstProcess } from '../harness/session-inside.ts';

const seed = Number(process.env.CARREL_SEED ?? Date.now() % 2 ** 31);
const asked = Number(process.env.CARREL_ROUNDS ?? 0);
const rounds = { root: asked || (isRepeated ? 500 : 20), rootless: asked || 50, docker: asked || 50 };
const ways = (Object.keys(rounds) as (keyof typeof rounds)[]).filter((way) => way === 'root' || isRepeated);

describe.each(ways)('kill -9 between any two events: %s', (way) => {
  let carrel: Installation;
  let account: RootlessAccount | null = null;
  let dockerd: Dockerd | null = null;
  let project = '';

  beforeAll(async () => {
    account = way === 'rootless' ? createRootlessAccount() : null;
    dockerd = way === 'docker' ? await Dockerd.open() : null;
    carrel = new Installation(account);
    project = carrel.folder('project');
    const scripted = { kind: 'acp', command: ['node', '/workspace/agent.mjs'] };
    const docker = dockerd === null ? {} : { docker: { socket: dockerd.socketPath } };
    carrel.write('home/config.yaml', JSON.stringify({ agents: { scripted }, ...docker }));
    copyFileSync(resolve('test/fixtures/session-agent.mjs'), join(project, 'agent.mjs'));
    await carrel.list();
  }, 120_000);
  afterAll(async () => {
    await carrel.dispose();
    await dockerd?.dispose();
    account?.dispose();
  }, 120_000);

  async function create(): Promise<Talk> {
    const sandbox = way === 'docker' ? { sandbox: { engine: 'docker' as const } } : {};
    const body = { project, agent: 'scripted', name: 'killed', ...sandbox };
    return new Talk(carrel, await carrel.client.call('POST /v1/sessions', { body }));
  }

  async function first(): Promise<string> {
    if (dockerd === null) return firstProcess(carrel, (await carrel.show('killed')).id);
    const id = (await dockerd.docker('ps', '--quiet', '--no-trunc')).trim();
    return (await dockerd.docker('inspect', '--format', '{{.State.Pid}}', id)).trim();
  }

  it(`no event is lost, doubled or reordered in ${rounds[way]} rounds`, { timeout: rounds[way] * 9000 }, async () => {
    const talks = [await create(), ...(await Promise.all([1, 2].map(() => Talk.in(carrel, 'killed', 'scripted'))))];
    const campaign = new Campaign(carrel, await first(), talks, seed);
    try {
      for (let round = 0; round < rounds[way]; round += 1) {
        await campaign.round(round).catch((error: Error) => {
          throw new Error(`round ${round} of seed ${seed}: ${error.message}`);
        });
      }
      expect(await campaign.problems(), `seed ${seed}`).toEqual([]);
      expect(Object.values(campaign.killed).every((times) => times > 0)).toBe(true);
      console.log(`killed with seed ${seed}, ${way}: ${JSON.stringify(campaign.killed)}`);
    } finally {
      campaign.close();
    }
  });
});
