/**
 * The processes, mounts, groups and folders that belong to one run of the tests. Other runs, and other users of Carrel,
 * work on the same machine.
 *
 * A process belongs to the run if its arguments, its environment, its control groups or its mounts name the run. A
 * sandbox has a clean environment, but its mounts name the home behind them and its group the installation.
 */

export interface Run {
  readonly id: string;
  readonly folder: string;
  /** Ids of installations whose home was in the run's folder. */
  readonly installations: readonly string[];
}

export interface SeenProcess {
  readonly pid: number;
  readonly parent: number;
  readonly argv: readonly string[];
  readonly environment: string;
  readonly groups: string;
  /** Lines of `mountinfo`. */
  readonly mounts: readonly string[];
}

export interface Machine {
  readonly processes: readonly SeenProcess[];
  /** Lines of the `mountinfo` of the host. */
  readonly mounts: readonly string[];
  readonly groups: readonly string[];
  /** Folders in the run's folder, and in places that the whole machine shares. */
  readonly folders: readonly string[];
}

export function leftovers(run: Run, machine: Machine, self: number): string[] {
  const { processes, mounts, groups, folders } = partOf(run, machine, self);
  return [
    ...processes.map(({ pid, argv }) => `process ${pid}: ${JSON.stringify(argv.join(' ')).slice(0, 300)}`),
    ...mounts.map((line) => `mount ${pathsOf(line)}`),
    ...groups.map((path) => `cgroup ${path}`),
    ...folders.map((path) => `folder ${path}`),
  ];
}

/** `self`: the process that checks. This process, its ancestors and its own children continue after the check. */
export function partOf(run: Run, machine: Machine, self: number): Machine {
  const spared = sparedBy(machine.processes, self);
  const onHost = new Set(machine.mounts.map(pathsOf));
  return {
    processes: machine.processes.filter((one) => !spared.has(one.pid) && isOfRun(run, one, onHost)),
    mounts: machine.mounts.filter((line) => names(run, line)),
    groups: machine.groups.filter((path) => names(run, path)),
    folders: machine.folders.filter((path) => names(run, path)),
  };
}

function sparedBy(processes: readonly SeenProcess[], self: number): ReadonlySet<number> {
  const parents = new Map(processes.map(({ pid, parent }) => [pid, parent]));
  const spared = new Set(processes.filter(({ parent }) => parent === self).map(({ pid }) => pid));
  for (let pid: number | undefined = self; pid; pid = parents.get(pid)) spared.add(pid);
  return spared;
}

/** A mount of the host does not identify a process: every process on the machine sees it. */
function isOfRun(run: Run, process: SeenProcess, onHost: ReadonlySet<string>): boolean {
  const { argv, environment, groups, mounts } = process;
  if (argv.length === 0) return false;
  const own = mounts.filter((line) => !onHost.has(pathsOf(line)));
  return [...argv, environment, groups, ...own].some((text) => names(run, text));
}

/** The names of the run's folder, and of the groups of its tests, begin with its mark. */
function names({ id, installations }: Run, text: string): boolean {
  if (text.includes(`carrel-${id}`) || text.includes(`CARREL_TEST_RUN=${id}`)) return true;
  return installations.some((installation) => text.includes(`carrel-${installation}`));
}

/** From a line of `mountinfo`: what is mounted, and where. */
function pathsOf(line: string): string {
  return line.split(' ').slice(3, 5).join(' on ');
}
