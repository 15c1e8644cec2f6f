/** Work on files in a working copy, beside the same in a plain copy on the host and on fuse-overlayfs. */
import { join } from 'node:path';
import { openFuse } from './fuse.ts';
import { heavyMs, onHost, type Place, type Times, timeInside, timeInstall, timeSmall, timeUnlink } from './inside.ts';
import { addPackages } from './packages.ts';
import { output } from './program.ts';
import { ignoredFolder, rareWord } from './projects.ts';
import { missing, type Row, row, timesPeer } from './report.ts';
import { interleave, type Summary, summarize } from './sample.ts';
import type { Bench } from './sections.ts';

const wheres = ['native', 'fuse-overlayfs', 'carrel'] as const;
type Where = (typeof wheres)[number];
type Places = Readonly<Record<Where, Place | null>>;

interface Work {
  /** Runs the work in a place and returns its times by name. */
  readonly times: (place: Place) => Promise<Times>;
  readonly rounds: number;
  /** The largest allowed multiple of the native time. */
  readonly target: number | null;
  readonly warmUp?: boolean;
}

const promised = 1.5;

export async function measureFiles(bench: Bench): Promise<Row[]> {
  const { options, carrel, projects, cleanup, signal } = bench;
  const project = await projects.project(options.largeProject);
  const { path: copy } = await projects.copy(options.largeProject);
  const name = await carrel.idleOn(project);
  const inside = carrel.workspace(name);
  const withNpm = await hasNpm(inside);
  if (withNpm) await addProgram(bench, [project, copy]);
  const fuse = await openFuse(cleanup, project, projects.path('fuse'));
  const places = { native: onHost(copy), 'fuse-overlayfs': typeof fuse === 'string' ? null : fuse, carrel: inside };
  // As in any new copy, git has not looked at the files yet.
  await places.native(['git', 'read-tree', 'HEAD']);
  const rows: Row[] = [];
  for (const work of worksOf(bench, withNpm)) rows.push(...(await measureWork(work, places, signal)));
  await carrel.remove([name]);
  if (typeof fuse === 'string') rows.push(missing('fuse-overlayfs', fuse));
  if (!withNpm) rows.push(missing('npm ci', 'sandboxes have no npm: it is not below /usr on this machine'));
  return rows;
}

function worksOf({ options }: Bench, withNpm: boolean): Work[] {
  const { rounds, heavyRounds, largeProject, packages, smallFiles } = options;
  const [some, few] = [Math.ceil(rounds / 4), Math.ceil(rounds / 8)];
  const timed = (what: string, time: (place: Place) => Promise<number>) => async (place: Place) => ({
    [what]: await time(place),
  });
  const status = (place: Place) => timeInside(place, 'git', 'status');
  const search = (place: Place) => timeInside(place, 'rg', '--files-with-matches', rareWord, '.');
  const install = (place: Place) => timeInstall(place, ignoredFolder);
  const counted = async (times: Promise<Times>) =>
    Object.fromEntries(Object.entries(await times).map(([verb, ms]) => [`${verb} ${smallFiles} small files`, ms]));
  return [
    { times: timed('git status, the first', status), rounds: 1, target: null, warmUp: false },
    { times: timed(`git status, ${largeProject} files`, status), rounds: some, target: promised },
    ...(withNpm
      ? [{ times: timed(`npm ci, ${packages} packages`, install), rounds: heavyRounds, target: promised }]
      : []),
    { times: timed(`rg, ${largeProject} files`, search), rounds: heavyRounds, target: null },
    { times: (place) => counted(timeSmall(place, smallFiles)), rounds: few, target: null },
    { times: (place) => counted(timeUnlink(place)), rounds: few, target: null },
  ];
}

async function measureWork(
  { times, rounds, target, warmUp }: Work,
  places: Places,
  signal: AbortSignal,
): Promise<Row[]> {
  const measures = Object.fromEntries(
    wheres.map((where) => {
      const place = places[where];
      return [where, place === null ? null : () => times(place)];
    }),
  ) as Record<Where, (() => Promise<Times>) | null>;
  const taken = await interleave<Where, Times>(rounds, measures, signal, warmUp);
  return Object.keys(taken.carrel[0]!).flatMap((what) => rowsOf(what, taken, target));
}

function rowsOf(what: string, taken: Readonly<Record<Where, readonly Times[]>>, target: number | null): Row[] {
  const summaryOf = (where: Where): Summary | null =>
    taken[where].length === 0 ? null : summarize(taken[where].map((times) => times[what]!));
  const [native, fuse, carrel] = wheres.map(summaryOf) as [Summary, Summary | null, Summary];
  return [
    row(`${what}: native`, native),
    ...(fuse === null ? [] : [row(`${what}: fuse-overlayfs`, fuse)]),
    row(`${what}: carrel`, carrel, [
      ...timesPeer(carrel, 'native', native, target),
      ...timesPeer(carrel, 'fuse-overlayfs', fuse),
    ]),
  ];
}

async function hasNpm(inside: Place): Promise<boolean> {
  try {
    await inside(['npm', '--version']);
    return true;
  } catch {
    return false;
  }
}

/** Adds the same program to each tree. */
async function addProgram({ options, projects }: Bench, trees: readonly string[]): Promise<void> {
  const [program, scratch] = [projects.path('program'), projects.path('tarballs')];
  await addPackages(program, scratch, options.packages);
  for (const tree of trees) await output(['cp', '-a', '-T', '--', program, join(tree, ignoredFolder)], heavyMs);
}
