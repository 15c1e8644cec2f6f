/** The time to show what an agent changed, beside git in a plain copy with the same changes. */
import { change, cleanly, onHost } from './inside.ts';
import { output, timeProgram } from './program.ts';
import { atMost, type Row, row, timesPeer } from './report.ts';
import { elapsed, interleave, summarize } from './sample.ts';
import type { Bench } from './sections.ts';

const promisedMs = 1000;

export async function measureReview(bench: Bench): Promise<Row[]> {
  return [...(await measureChanges(bench)), ...(await measureIgnored(bench))];
}

/** As many files as a large `node_modules` has; git does not read that folder. */
const ignoredFiles = 35_000;

async function measureIgnored({ options, carrel, projects, signal }: Bench): Promise<Row[]> {
  const { largeProject, fewChanges } = options;
  const name = await carrel.idleOn(await projects.project(largeProject));
  const { path: copy } = await projects.copy(largeProject);
  for (const place of [carrel.workspace(name), onHost(copy)]) {
    await change(place, 'change', fewChanges);
    await change(place, 'ignore', ignoredFiles);
  }
  const status = cleanly('git', '-C', copy, 'status');
  const measures = {
    status: () => timeProgram(status).then(({ wholeMs }) => wholeMs),
    list: () => elapsed(() => expectChanges(carrel, name, fewChanges)),
  };
  const taken = await interleave<keyof typeof measures, number>(options.heavyRounds + 3, measures, signal);
  await carrel.remove([name]);
  for (const args of [
    ['reset', '--quiet', '--hard'],
    ['clean', '--quiet', '-fdx'],
  ])
    await output(asArgv(cleanly('git', '-C', copy, ...args)));
  const [git, list] = [summarize(taken.status), summarize(taken.list)];
  const among = `${ignoredFiles} ignored files, ${fewChanges} changes of ${largeProject} files`;
  return [row(`git status, ${among}`, git), row(`list, ${among}`, list, timesPeer(list, 'git status', git, 1.2))];
}

async function measureChanges({ options, carrel, projects, signal }: Bench): Promise<Row[]> {
  const { largeProject, manyChanges } = options;
  const name = await carrel.idleOn(await projects.project(largeProject));
  await change(carrel.workspace(name), 'change', manyChanges);
  const { path: copy } = await projects.copy(largeProject);
  const git = (...args: string[]) => cleanly('git', '-C', copy, ...args);
  await change(onHost(copy), 'change', manyChanges);
  // Git shows new files only if it was told to add them.
  await output(asArgv(git('add', '--intent-to-add', '--all')));
  const timeGit = (...args: string[]) => timeProgram(git(...args)).then(({ wholeMs }) => wholeMs);
  const measures = {
    status: () => timeGit('status'),
    gitDiff: () => timeGit('diff', '--find-renames'),
    list: () => elapsed(() => expectChanges(carrel, name, manyChanges)),
    diff: () => elapsed(() => carrel.diff(name)),
  };
  const taken = await interleave<keyof typeof measures, number>(options.heavyRounds + 1, measures, signal);
  await carrel.remove([name]);
  await output(asArgv(git('reset', '--quiet', '--hard')));
  await output(asArgv(git('clean', '--quiet', '-fd')));
  const [gitDiff, list, diff] = [summarize(taken.gitDiff), summarize(taken.list), summarize(taken.diff)];
  const promised = (summary: typeof diff) => [
    atMost(summary, promisedMs),
    ...timesPeer(summary, 'git diff', gitDiff, 2),
  ];
  return [
    row(`git status, ${manyChanges} changes of ${largeProject} files`, summarize(taken.status)),
    row(`git diff, ${manyChanges} changes of ${largeProject} files`, gitDiff),
    row(`list ${manyChanges} changes of ${largeProject} files`, list, promised(list)),
    row(`carrel diff of ${manyChanges} changes, the whole command`, diff, promised(diff)),
  ];
}

async function expectChanges(carrel: Bench['carrel'], name: string, expected: number): Promise<void> {
  const found = await carrel.changes(name);
  if (found !== expected) throw new Error(`${found} changes were listed, not ${expected}`);
}

const asArgv = (argv: readonly string[]) => argv as readonly [string, ...string[]];
