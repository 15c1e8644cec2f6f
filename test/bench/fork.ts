/** The time of a fork: it depends on the number of changes, not on the size of the project. */
import { change } from './inside.ts';
import { type Row, row, timesPeer } from './report.ts';
import { elapsed, interleave, summarize } from './sample.ts';
import type { Bench } from './sections.ts';

const flat = 1.5;

export async function measureFork(bench: Bench): Promise<Row[]> {
  const { fewChanges, manyChanges, rounds, heavyRounds } = bench.options;
  return [
    ...(await forkRows(bench, fewChanges, Math.ceil(rounds / 2))),
    ...(await forkRows(bench, manyChanges, heavyRounds)),
  ];
}

/** All forks are removed together at the end: ext4 is slow to make files where many were just deleted. */
async function forkRows({ options, carrel, projects, signal }: Bench, changes: number, rounds: number): Promise<Row[]> {
  const { smallProject, largeProject } = options;
  const names: string[] = [];
  const forkOf = async (files: number) => {
    const name = await carrel.idleOn(await projects.project(files));
    names.push(name);
    await change(carrel.workspace(name), 'add', changes);
    return () =>
      elapsed(async () => {
        names.push(await carrel.fork(name));
      });
  };
  const measures = { small: await forkOf(smallProject), large: await forkOf(largeProject) };
  const taken = await interleave<keyof typeof measures, number>(rounds, measures, signal, false);
  await carrel.remove(names);
  const [small, large] = [summarize(taken.small), summarize(taken.large)];
  return [
    row(`fork, ${changes} changes on ${smallProject} files`, small),
    row(
      `fork, ${changes} changes on ${largeProject} files`,
      large,
      timesPeer(large, `${smallProject} files`, small, flat),
    ),
  ];
}
