/** Times of apply and undo, beside git with the same patch in a plain copy. */
import { change, cleanly, heavyMs, onHost } from './inside.ts';
import { output } from './program.ts';
import { type Row, row, timesPeer } from './report.ts';
import { elapsed, interleave, summarize } from './sample.ts';
import type { Bench } from './sections.ts';

interface ThereAndBack {
  readonly thereMs: number;
  readonly backMs: number;
}

/**
 * Enough rounds for a median. Each has a new sandbox: an undone apply leaves records, which the next apply would read.
 */
const rounds = 9;
const changes = 2000;
const appliedProject = 10_000;

export async function measureApply(bench: Bench): Promise<Row[]> {
  const git = await gitApply(bench);
  const taken = await interleave<'git' | 'carrel', ThereAndBack>(
    rounds,
    { git: () => thereAndBack(git, () => git('--reverse')), carrel: () => applyOnce(bench) },
    bench.signal,
    false,
  );
  const there = (times: readonly ThereAndBack[]) => summarize(times.map(({ thereMs }) => thereMs));
  const back = (times: readonly ThereAndBack[]) => summarize(times.map(({ backMs }) => backMs));
  const [gitThere, gitBack] = [there(taken.git), back(taken.git)];
  const [ourThere, ourBack] = [there(taken.carrel), back(taken.carrel)];
  return [
    row(`git apply of ${changes} changes`, gitThere),
    row(`git apply --reverse of ${changes} changes`, gitBack),
    row(`apply ${changes} changes`, ourThere, timesPeer(ourThere, 'git apply', gitThere, 3)),
    row(`apply ${changes} changes, the first in this run`, there(taken.carrel.slice(0, 1))),
    row(`undo the apply of ${changes} changes`, ourBack, timesPeer(ourBack, 'git apply --reverse', gitBack, 3)),
  ];
}

async function applyOnce({ carrel, projects }: Bench): Promise<ThereAndBack> {
  const name = await carrel.idleOn(await projects.project(appliedProject));
  await change(carrel.workspace(name), 'change', changes);
  const times = await thereAndBack(
    () => expectApplied(carrel, name, changes),
    () => carrel.undo(name),
  );
  await carrel.remove([name]);
  return times;
}

/** Runs git with the same changes as a patch, in a plain copy that has none of them. */
async function gitApply({ projects }: Bench): Promise<(...options: string[]) => Promise<string>> {
  const { path: copy } = await projects.copy(appliedProject);
  const patch = projects.path('changes.patch');
  const git = (...args: string[]) => output(cleanly('git', '-C', copy, ...args) as [string, ...string[]], heavyMs);
  await change(onHost(copy), 'change', changes);
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
