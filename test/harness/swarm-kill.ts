/** Kills parts of a swarm at moments that a seed decides, and resumes the swarm until it is done. */
import { type Installation, isRunning } from './installation.ts';
import { hasEnded, type SwarmProject } from './swarm.ts';
import { childrenOf, processesMentioning } from './traces.ts';

export interface Prey {
  readonly carrel: Installation;
  readonly project: SwarmProject;
  /** First processes of sandboxes, each with the one that keeps it, if there is one. */
  sandboxes(): Promise<readonly { readonly init: number; readonly keeper: number | null }[]>;
  /** Kills of anything else that may die. */
  readonly others: readonly (() => Promise<void>)[];
}

export function localPrey(carrel: Installation, project: SwarmProject): Prey {
  const sandboxes = async () =>
    processesMentioning(carrel.home, 'conmon').flatMap((keeper) =>
      childrenOf(keeper).map((init) => ({ init, keeper })),
    );
  return { carrel, project, sandboxes, others: [] };
}

const kinds = ['daemon', 'adapter', 'agent', 'sandbox'] as const;

/** `CARREL_SEED` repeats a run. */
export const seed = Number(process.env.CARREL_SEED ?? Date.now() % 2 ** 31);

/** Kills parts of a swarm that is running already; returns when everything is completed. */
export async function survive(prey: Prey, rounds: number, maxPauseMs: number): Promise<void> {
  const random = generator(seed);
  const { carrel, project, others } = prey;
  for (let round = 0; round < rounds; round++) {
    await new Promise((resolve) => setTimeout(resolve, random() * maxPauseMs));
    if (!isRunning(carrel.daemonPid)) throw new Error(`the daemon ended by itself, seed ${seed}`);
    const victim = Math.floor(random() * (kinds.length + others.length));
    if (victim < kinds.length) await kill(prey, kinds[victim]!, random);
    else await others[victim - kinds.length]!();
    await carrel.ok('ls');
    const view = await project.until('what ended to be recorded', () => true);
    if (hasEnded(view) && view.containers.every(({ status }) => status === 'completed')) return;
    await carrel.run(['swarm', 'resume', '--detach', '--project', project.path]);
  }
  for (let tries = 0; tries < 10; tries++) {
    const { containers } = await project.until('the end', hasEnded);
    if (containers.every(({ status }) => status === 'completed')) return;
    await project.swarm('resume', '--detach');
  }
  throw new Error(`not done after ten resumes, seed ${seed}`);
}

/** Kills a process of that kind, if there is one. */
async function kill(prey: Prey, kind: (typeof kinds)[number], random: () => number): Promise<void> {
  if (kind === 'daemon') return prey.carrel.killDaemon();
  const all = await prey.sandboxes();
  const one = all[Math.floor(random() * all.length)];
  if (one === undefined) return;
  const adapters = childrenOf(one.init);
  const pids = { sandbox: [one.keeper, one.init], adapter: adapters, agent: adapters.flatMap(childrenOf) }[kind];
  for (const pid of pids) if (pid !== null) killed(pid);
}

function killed(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself, ignoring.
  }
}

function generator(start: number): () => number {
  let state = start;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
