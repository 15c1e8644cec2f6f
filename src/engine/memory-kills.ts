/** Whether the kernel killed processes of a control group because its memory was used up. */
import { join } from 'node:path';
import { readIfThere } from '../lib/file.ts';
import type { Exit, Process } from './engine.ts';

const mountPoint = '/sys/fs/cgroup';

/** Whether there were any since then. False where the kernel does not count them, or the group is not to be seen from here. */
export type MemoryKills = () => boolean;

/** From now on, in the group that a process is in. */
export function watchMemoryKills(pid: number, read = readIfThere): MemoryKills {
  const path = counterOf(read(`/proc/${pid}/cgroup`) ?? '');
  const count = () => Number(/^oom_kill (\d+)$/m.exec((path && read(path)) ?? '')?.[1] ?? 0);
  const before = count();
  return () => count() > before;
}

/** Where both versions are mounted, version 1 has the controller. */
function counterOf(groups: string): string | null {
  const old = /^\d+:(?:[^:\n]*,)?memory(?:,[^:\n]*)?:(.*)$/m.exec(groups)?.[1];
  if (old !== undefined) return join(mountPoint, 'memory', old, 'memory.oom_control');
  const unified = /^0::(.*)$/m.exec(groups)?.[1];
  return unified === undefined ? null : join(mountPoint, unified, 'memory.events');
}

/** A command that fails while something in its sandbox is killed for want of memory ends out of memory. */
export function countingKills(process: Process, kills: MemoryKills): Process {
  const exited = process.exited.then((exit): Exit => {
    return exit.exitCode !== 0 && kills() ? { ...exit, outOfMemory: true } : exit;
  });
  exited.catch(() => {});
  return { ...process, exited };
}
