/**
 * The usage of a sandbox that has no control group: the sum over its processes and the children they have waited for.
 * Shared memory counts once for each process.
 */
import { readIfThere } from '../../../lib/file/file.ts';
import type { ProcessRef } from '../../../lib/process/process.ts';
import type { Stats } from '../engine.ts';
import { fieldsOf, processesInside } from './pause/stopped.ts';

/** The unit of times in /proc, on every architecture. */
const ticksPerSecond = 100;

export function processStats(init: ProcessRef): Stats {
  const all = processesInside(init, []).map(statsOf);
  const sum = (key: keyof Stats) => all.reduce((total, one) => total + one[key], 0);
  return { cpuSeconds: sum('cpuSeconds'), memoryBytes: sum('memoryBytes'), pids: sum('pids') };
}

/** Zero for a process that has just ended. */
function statsOf(pid: number): Stats {
  const fields = fieldsOf(`/proc/${pid}/stat`);
  const ticks = fields.slice(11, 15).reduce((total, text) => total + Number(text), 0);
  const kibibytes = /^VmRSS:\s*(\d+)/m.exec(readIfThere(`/proc/${pid}/status`) ?? '')?.[1] ?? 0;
  return {
    cpuSeconds: ticks / ticksPerSecond,
    memoryBytes: Number(kibibytes) * 1024,
    pids: Number(fields[17] ?? 0),
  };
}
