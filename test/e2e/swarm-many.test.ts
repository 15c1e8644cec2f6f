/** As many task files as anybody has, on the real engine. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Installation } from '../harness/installation.ts';
import { knowScripted, lines, SwarmProject } from '../harness/swarm.ts';

let carrel: Installation;

beforeAll(() => {
  carrel = new Installation();
  knowScripted(carrel);
});
afterAll(() => carrel.dispose(), 120_000);

it('50 task files, of which 8 are worked on at once, are all done once', async () => {
  const names = Array.from({ length: 50 }, (_, index) => `many-${index}`);
  const project = new SwarmProject(carrel, 'many', Object.fromEntries(names.map((name) => [name, lines(name, 1)])));
  const argv = ['swarm', 'run', '--all', '--agent', 'scripted', '--max', '8', '--project', project.path];
  expect(await carrel.run(argv, { timeoutMs: 170_000 })).toMatchObject({ exitCode: 0, stderr: '' });
  const view = await project.view();
  expect([project.wrong(), view.containers.length]).toEqual([[], 50]);
  // From when each was begun until its end was recorded.
  const beside = view.containers.map(({ startedAt }) => {
    const at = startedAt!;
    return view.containers.filter((one) => one.startedAt! <= at && at < one.updatedAt).length;
  });
  expect(Math.max(...beside)).toBe(8);
  expect(JSON.parse(await project.swarm('cleanup'))).toEqual({ removed: 50 });
}, 180_000);
