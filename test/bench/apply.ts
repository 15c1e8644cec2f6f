/** How long it takes to take changes over and back, beside git with the same patch in a plain copy. */
import { change, cleanly, heavyMs, onHost } from './inside.ts';
import { output } from './program.ts';
import { type Row, row, timesPeer } from './report.ts';
import { elapsed, interleave, summarize } from './sample.ts';
import type { Bench } from './sections.ts';

interface ThereAndBack {
  readonly thereMs: number;
  readonly backMs: number;
}

export async function measureApply(bench: Bench): Promise<Row[]> {
  const { options, carrel, projects, signal } = bench;
  const { largeProject, manyChanges } = options;
  const name = await carrel.idleOn(await projects.project(largeProject));
  await change(carrel.workspace(name), 'change', manyChanges);
  const git = await gitApply(bench);
  const taken = await interleave<'git' | 'carrel', ThereAndBack>(
    options.heavyRounds,
    {
      git: () => thereAndBack(git, () => git('--reverse')),
      carrel: () =>
        thereAndBack(
          () => expectApplied(carrel, name, manyChanges),
          () => carrel.undo(name),
        ),
    },
    signal,
    false,
  );
  await carrel.remove([name]);
  const there = (times: readonly ThereAndBack[]) => summarize(times.map(({ thereMs }) => thereMs));
  const back = (times: readonly ThereAndBack[]) => summarize(times.map(({ backMs }) => backMs));
  const [gitThere, gitBack] = [there(taken.git), back(taken.git)];
  const [ourThere, ourBack] = [there(taken.carrel), back(taken.carrel)];
  return [
    row(`git apply of ${manyChanges} changes`, gitThere),
    row(`git apply --reverse of ${manyChanges} changes`, gitBack),
    row(`apply ${manyChanges} changes`, ourThere, timesPeer(ourThere, 'git apply', gitThere, 3)),
    row(`undo the apply of ${manyChanges} changes`, ourBack, timesPeer(ourBack, 'git apply --reverse', gitBack, 3)),
  ];
}

/** Git with the same changes as a patch, in a plain copy that has none of them. */
async function gitApply({ options, projects }: Bench): Promise<(...options: string[]) => Promise<string>> {
  const { path: copy } = await projects.copy(options.largeProject);
  const patch = projects.path('changes.patch');
  const git = (...args: string[]) => output(cleanly('git', '-C', copy, ...args) as [string, ...string[]], heavyMs);
  await change(onHost(copy), 'change', options.manyChanges);
  await git('add', '--all');
  await git('diff', '--cached', '--binary', `--output=${patch}`);
  await git('reset', '--quiet', '--hard');
  return (...flags) => git('apply', ...flags, patch);
}

async function thereAndBack(there: () => Promise<unknown>, back: () => Promise<unknown>): Promise<ThereAndBack> {
  return { thereMs: await elapsed(there), backMs: await elapsed(back) };
}

async function expectApplied(carrel: Bench['carrel'], name: string, expected: number): Promise<void> {
  const applied = await carrel.apply(name);
  if (applied !== expected) throw new Error(`${applied} changes were applied, not ${expected}`);
}
