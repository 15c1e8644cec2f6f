/**
 * Agents that claim to be done, plant files and flood the daemon: none of it completes a story or changes the project.
 */
import { cpSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Installation } from '../harness/installation.ts';
import { hasEnded, knowScripted, lines, SwarmProject } from '../harness/swarm.ts';

let carrel: Installation;

beforeAll(() => {
  carrel = new Installation();
  knowScripted(carrel);
});
afterAll(() => carrel.dispose());

it('a hostile agent cannot complete a story that is not done, nor change the project', async () => {
  const does = (deed: string) => `append ${deed}.txt US-001\nsh node /workspace/tools/hostile.mjs ${deed}`;
  const liars = Object.fromEntries(['forge', 'scribe', 'link', 'flood'].map((name) => [name, [does(name), 'say no']]));
  const project = new SwarmProject(carrel, 'hostile', { ...liars, plant: [does('plant')], docs: lines('docs', 1) });
  cpSync(resolve('test/fixtures/hostile-agent.mjs'), join(project.path, 'tools/hostile.mjs'));
  const before = project.git('for-each-ref', 'refs/heads', 'refs/tags');
  await project.swarm('run', '--all', '--agent', 'scripted', '-d');
  const { containers } = await project.until('all to end', hasEnded);
  const ends = Object.fromEntries(
    containers.map(({ containerName, status, reason }) => [containerName, `${status} ${reason}`]),
  );
  const lost = 'failed lost: commits did not reach the host: US-001, US-002';
  expect(ends).toEqual({
    forge: lost,
    scribe: lost,
    link: 'failed AGENT_CRASH: ended by SIGKILL',
    flood: 'failed AGENT_CRASH: it sends lines that are no messages',
    plant: 'completed null',
    docs: 'completed null',
  });
  for (const name of Object.keys(liars)) expect(project.statuses(name)).not.toContain('completed');
  expect([project.landed('plant'), project.landed('docs')]).toEqual([['US-001'], ['US-001']]);
  expect(project.git('for-each-ref', 'refs/heads', 'refs/tags')).toBe(before);
  expect(project.git('for-each-ref', 'refs/carrel/other')).toBe('');
  expect(await carrel.run(['diff', 'plant', 'owned'])).toMatchObject({ stdout: '' });
});
