/** A swarm whose Docker Engine is killed and comes back. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Dockerd } from '../harness/dockerd.ts';
import { Installation, until } from '../harness/installation.ts';
import { hasEnded, knowScripted, lines, SwarmProject } from '../harness/swarm.ts';

let dockerd: Dockerd;
let carrel: Installation;

beforeAll(async () => {
  dockerd = await Dockerd.open();
  carrel = new Installation(null, dockerd);
  knowScripted(carrel);
}, 120_000);
afterAll(async () => {
  await carrel.dispose();
  await dockerd.dispose();
}, 120_000);

it('ends with every story once, resumed where its containers went with the engine', async () => {
  const [first, second] = lines('login', 2, 'wait /tmp/go\n') as [string, string];
  const project = new SwarmProject(carrel, 'project', { login: [first.replace(/wait.*\n/, ''), second] });
  const allowed = async () => {
    await carrel.run(['exec', 'login', '--', 'touch', '/tmp/go']);
    return hasEnded(await project.view());
  };
  await project.swarm('run', '--all', '--agent', 'scripted', '--engine', 'docker', '--detach');
  await project.until('the second story', ({ containers }) => containers[0]?.stories[1]?.status === 'in_progress');
  await dockerd.stop('SIGKILL');
  await dockerd.start();
  for (let tries = 0; tries < 5; tries++) {
    await until(allowed, 'it to end', 40_000);
    if ((await project.view()).containers[0]!.status === 'completed') break;
    await project.swarm('resume', '--detach');
  }
  expect(project.wrong()).toEqual([]);
});
