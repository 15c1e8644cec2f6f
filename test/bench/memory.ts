/** The memory of an idle sandbox besides the command it runs: its keeper and its init. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openHome } from '../../src/kernel/home/home.ts';
import { homeVolume } from '../fixtures/places.ts';

export interface Resident {
  readonly rssMb: number;
  /** Shared pages are divided among the processes that share them. */
  readonly pssMb: number;
}

export function residentOf(pid: number): Resident {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return { rssMb: field(rollup, 'Rss') / 1024, pssMb: field(rollup, 'Pss') / 1024 };
}

/** The cost of each sandbox of a home. */
export function idleCosts(home: string): Resident[] {
  const runs = join(openHome(home, false, homeVolume).engine, 'run');
  return readdirSync(runs).map((id) => {
    const [keeper, init] = ['keeper.pid', 'pid'].map((file) =>
      residentOf(Number(readFileSync(join(runs, id, file), 'utf8'))),
    ) as [Resident, Resident];
    return { rssMb: keeper.rssMb + init.rssMb, pssMb: keeper.pssMb + init.pssMb };
  });
}

/** The memory that the machine can still give to programs. */
export function availableMb(): number {
  return field(readFileSync('/proc/meminfo', 'utf8'), 'MemAvailable') / 1024;
}

function field(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? Number.NaN);
}
