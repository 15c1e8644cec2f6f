/** Finds out whether the kernel killed processes of a control group because its memory was exhausted. */
import { join } from 'node:path';
import { readIfThere } from '../../lib/file/file.ts';
import type { Exit, Process } from './engine.ts';

const mountPoint = '/sys/fs/cgroup';

/**
 * True: the kernel killed processes since the watch began. False also if the kernel does not count kills, or the group
 * is not visible.
 */
export type MemoryKills = () => boolean;

/** Watches the kills in the control group of a process from now on. */
export function watchMemoryKills(pid: number, read = readIfThere): MemoryKills {
  const path = counterOf(read(`/proc/${pid}/cgroup`) ?? '');
  const count = () => Number(/^oom_kill (\d+)$/m.exec((path && read(path)) ?? '')?.[1] ?? 0);
  const before = count();
  return () => count() > before;
}

/** The path of the counter. If both versions are mounted, the memory controller is in version 1. */
function counterOf(groups: string): string | null {
  const old = /^\d+:(?:[^:\n]*,)?memory(?:,[^:\n]*)?:(.*)$/m.exec(groups)?.[1];
  if (old !== undefined) return join(mountPoint, 'memory', old, 'memory.oom_control');
  const unified = /^0::(.*)$/m.exec(groups)?.[1];
  return unified === undefined ? null : join(mountPoint, unified, 'memory.events');
}

/** A command that fails while a process of its sandbox is killed for lack of memory counts as out of memory. */
export function countingKills(process: Process, kills: MemoryKills): Process {
  const exited = process.exited.then((exit): Exit => {
    return exit.exitCode !== 0 && kills() ? { ...exit, outOfMemory: true } : exit;
  });
  exited.catch(() => {});
  return { ...process, exited };
}
