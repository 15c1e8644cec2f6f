/** Many task files on the real engine, of which a few are worked on at once. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Installation, until } from '../harness/installation.ts';
import { isRepeated } from '../harness/machine.ts';
import { knowScripted, lines, SwarmProject, workMs } from '../harness/swarm.ts';

let carrel: Installation;

beforeAll(() => {
  carrel = new Installation();
  knowScripted(carrel);
});
afterAll(() => carrel.dispose());

const count = isRepeated ? 50 : 20;

it(`each of ${count} task files, of which 8 run at the same time, is completed once`, async () => {
  const names = Array.from({ length: count }, (_, index) => `many-${String(index).padStart(2, '0')}`);
  const first = names.slice(0, 8);
  const plans = names.map((name) => [name, lines(name, 1, first.includes(name) ? 'wait /tmp/go\n' : '')]);
  const project = new SwarmProject(carrel, 'many', Object.fromEntries(plans));
  const argv = ['swarm', 'run', '--all', '--agent', 'scripted', '--max', '8', '--project', project.path];
  const ended = carrel.run(argv, { timeoutMs: 400_000 });
  const working = async () => {
    const { containers } = await project.view().catch(() => ({ containers: [] }));
    return containers.filter(({ stories: [story] }) => story?.status === 'in_progress').length === first.length;
  };
  await until(working, 'as many as may be to work', workMs);
  await Promise.all(first.map((name) => carrel.ok('exec', name, '--', 'touch', '/tmp/go')));
  expect(await ended).toMatchObject({ exitCode: 0, stderr: '' });
  const view = await project.view();
  expect([project.wrong(), view.containers.length]).toEqual([[], count]);
  // For each container, how many ran when it started; a container runs until its end is recorded.
  const beside = view.containers.map(({ startedAt }) => {
    const at = startedAt!;
    return view.containers.filter((one) => one.startedAt! <= at && at < one.updatedAt).length;
  });
  expect(Math.max(...beside)).toBe(8);
  expect(JSON.parse(await project.swarm('cleanup'))).toEqual({ removed: count });
}, 500_000);
