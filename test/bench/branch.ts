/** The time to commit large new files to a branch, beside `git add` of files of the same size. */
import { cleanly, heavyMs, onHost, type Place } from './inside.ts';
import { output } from './program.ts';
import { type Row, row, timesPeer } from './report.ts';
import { elapsed, summarize } from './sample.ts';
import type { Bench } from './sections.ts';

const files = 10;

/** Measured once: git does not compress again what its repository already has. */
export async function measureBranch({ options, carrel, projects }: Bench): Promise<Row[]> {
  const { smallProject, largeFileMb } = options;
  const name = await carrel.idleOn(await projects.project(smallProject));
  const { path: copy } = await projects.copy(smallProject);
  for (const place of [onHost(copy), carrel.workspace(name)]) await addLarge(place, largeFileMb);
  const git = summarize([await elapsed(() => output(cleanly('git', '-C', copy, 'add', '--all') as [string], heavyMs))]);
  const branch = summarize([await elapsed(() => carrel.applyToBranch(name, 'bench'))]);
  await carrel.remove([name]);
  const what = `${files} new files of ${largeFileMb} MB`;
  return [
    row(`git add of ${what}`, git),
    row(`apply --branch of ${what}`, branch, timesPeer(branch, 'git add', git, 1.5)),
  ];
}

async function addLarge(place: Place, megabytes: number): Promise<void> {
  const program =
    'import os, sys\nfor n in range(int(sys.argv[1])): open(f"large-{n}", "wb").write(os.urandom(int(sys.argv[2]) << 20))';
  await place(['python3', '-c', program, String(files), String(megabytes)]);
}
