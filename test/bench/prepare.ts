/** The time to prepare a new working copy, which must not depend on the size of the project. */
import { heavyMs } from './inside.ts';
import { output } from './program.ts';
import type { Projects } from './projects.ts';
import { type Row, row, timesPeer } from './report.ts';
import { elapsed, interleave, summarize } from './sample.ts';
import type { Bench } from './sections.ts';

/** The largest allowed ratio of the times on the large and on the small project. */
const flat = 1.5;

export async function measurePrepare(bench: Bench): Promise<Row[]> {
  const { options, carrel, projects, signal } = bench;
  const { smallProject, largeProject } = options;
  const [small, large] = [await projects.project(smallProject), await projects.project(largeProject)];
  const timed = async (make: () => Promise<string>) => {
    let name = '';
    const ms = await elapsed(async () => {
      name = await make();
    });
    await carrel.remove([name]);
    return ms;
  };
  const taken = await interleave<'none' | 'small' | 'large', number>(
    options.rounds,
    {
      none: () => timed(() => carrel.idle()),
      small: () => timed(() => carrel.idleOn(small)),
      large: () => timed(() => carrel.idleOn(large)),
    },
    signal,
  );
  const [none, onSmall, onLarge] = [summarize(taken.none), summarize(taken.small), summarize(taken.large)];
  return [
    ...(await peerRows(bench, smallProject)),
    ...(await peerRows(bench, largeProject)),
    row('create without a project → running', none),
    row(`create PROJECT → running, ${smallProject} files`, onSmall, timesPeer(onSmall, 'no project', none)),
    row(
      `create PROJECT → running, ${largeProject} files`,
      onLarge,
      timesPeer(onLarge, `${smallProject} files`, onSmall, flat),
    ),
  ];
}

async function peerRows(bench: Bench, files: number): Promise<Row[]> {
  const { options, projects, signal } = bench;
  const project = await projects.project(files);
  const copies = files === options.largeProject ? [(await projects.copy(files)).ms] : [];
  const copy = () => timeMade(projects, (target) => ['cp', '-a', '--', project, target]);
  const worktree = () =>
    timeMade(projects, (target) => ['git', '-C', project, 'worktree', 'add', '--quiet', '--detach', target]);
  // One round is enough for a copy, which takes long.
  const rounds = copies.length > 0 ? 1 : Math.ceil(options.rounds / 4);
  const measures = { copy: copies.length > 0 ? null : copy, worktree };
  const taken = await interleave<keyof typeof measures, number>(rounds, measures, signal, false);
  return [
    row(`cp -a, ${files} files`, summarize([...copies, ...taken.copy])),
    row(`git worktree add, ${files} files`, summarize(taken.worktree)),
  ];
}

function timeMade(projects: Projects, argv: (target: string) => [string, ...string[]]): Promise<number> {
  const target = projects.path('peer');
  return elapsed(() => output(argv(target), heavyMs));
}
