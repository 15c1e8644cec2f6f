import { Fault } from '../../../model/fault.ts';
import type { Stats } from '../engine.ts';
import type { Connection } from './connection/connection.ts';

interface EngineStats {
  readonly cpu_stats?: { readonly cpu_usage?: { readonly total_usage?: number } };
  readonly memory_stats?: { readonly usage?: number; readonly stats?: Readonly<Record<string, number>> };
  readonly pids_stats?: { readonly current?: number };
}

/** One sample; without `one-shot` the engine takes two, a second apart. */
export async function readStats(connection: Connection, container: string): Promise<Stats> {
  const options = { stream: false, 'one-shot': true } as const;
  const found = await connection.find((docker) => docker.getContainer(container).stats(options));
  const { cpu_stats, memory_stats, pids_stats } = (found ?? {}) as EngineStats;
  const cpuNanos = cpu_stats?.cpu_usage?.total_usage;
  if (!cpuNanos || memory_stats?.usage === undefined) {
    throw new Fault('unsupported', 'this sandbox has no control group to measure');
  }
  // Pages that the kernel can reclaim at any time do not count.
  const idle = memory_stats.stats?.total_inactive_file ?? memory_stats.stats?.inactive_file ?? 0;
  return {
    cpuSeconds: cpuNanos / 1e9,
    memoryBytes: Math.max(memory_stats.usage - idle, 0),
    pids: pids_stats?.current ?? 0,
  };
}
