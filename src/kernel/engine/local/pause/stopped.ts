/**
 * Pauses a sandbox without a freezer by signals: sends SIGSTOP to every process in it, from outside, until a scan finds
 * none that could run. Parents are stopped before their children and continued after them, so that no shell inside sees
 * one of its jobs stop.
 */
import { readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isErrno, readIfThere } from '../../../../lib/file/file.ts';
import { isAlive, type ProcessRef } from '../../../../lib/process/process.ts';

/**
 * The processes of a sandbox, parents first: those in the pid namespace of its first process and all their descendants,
 * which may be in further namespaces. `known` are execs that the daemon started.
 */
export function processesInside(init: ProcessRef, known: readonly number[]): number[] {
  const namespace = pidNamespace(init.pid);
  // After a reboot another process may have the pid.
  if (!isAlive(init) || namespace === null || namespace === pidNamespace(process.pid)) return [];
  const parents = new Map(allProcesses().map((pid) => [pid, parentOf(pid)]));
  const roots = [...parents.keys()].filter((pid) => pidNamespace(pid) === namespace);
  const inside = new Set([init.pid, ...known.filter((pid) => parents.has(pid)), ...roots]);
  for (let before = 0; before < inside.size; ) {
    before = inside.size;
    for (const [pid, parent] of parents) if (parent !== null && inside.has(parent)) inside.add(pid);
  }
  return byDepth([...inside], parents);
}

export function allProcesses(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Empty for a process that has ended or is about to become another program. */
export function argsOf(pid: number): string[] {
  return readIfThere(`/proc/${pid}/cmdline`)?.split('\0') ?? [];
}

/** The command name is in parentheses and may itself contain spaces and parentheses. */
export function fieldsOf(path: string): string[] {
  const stat = readIfThere(path) ?? '';
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

export function parentOf(pid: number): number | null {
  const parent = fieldsOf(`/proc/${pid}/stat`)[1];
  return parent === undefined ? null : Number(parent);
}

/** Null for a process that has ended or cannot be read. */
function pidNamespace(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return null;
  }
}

function byDepth(pids: readonly number[], parents: ReadonlyMap<number, number | null>): number[] {
  const depth = (pid: number): number => {
    let steps = 0;
    for (let at: number | null = pid; at !== null && at > 0; at = parents.get(at) ?? null) steps += 1;
    return steps;
  };
  const depths = new Map(pids.map((pid) => [pid, depth(pid)]));
  return [...pids].sort((a, b) => depths.get(a)! - depths.get(b)!);
}

export type StopState = 'stopped' | 'waiting' | 'busy';

/**
 * Considers all threads: the first may have ended while others continue. A `waiting` process is in the kernel, where
 * signals stay pending.
 */
export function stopStateOf(pid: number): StopState {
  const states = threadStates(pid).filter((state) => !['T', 't', 'Z', 'X'].includes(state));
  if (states.length === 0) return 'stopped';
  return states.every((state) => state === 'D') ? 'waiting' : 'busy';
}

/** Whether the first process is stopped, in contrast to one that has just ended. */
export function hasStopped(pid: number): boolean {
  return threadStates(pid).includes('T');
}

function threadStates(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((tid) => fieldsOf(`/proc/${pid}/task/${tid}/stat`)[0] || []);
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ESRCH')) return [];
    throw error;
  }
}

/** How long a process may wait in the kernel before all are continued for a moment. */
const stuckMs = 200;

/**
 * False when a process could still run after the time limit. A process that waits in vfork for a stopped child cannot
 * stop, so all processes are continued for a moment and stopped again.
 */
export async function stopAll(list: () => number[], withinMs: number, spared: readonly number[]): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  let since = Date.now();
  while (Date.now() < deadline) {
    const pids = list();
    for (const pid of pids) send(pid, 'SIGSTOP');
    const moving = pids.map(stopStateOf).filter((one) => one !== 'stopped');
    if (moving.length === 0 && list().every((pid) => stopStateOf(pid) === 'stopped')) return true;
    if (moving.includes('busy')) since = Date.now();
    if (Date.now() - since > stuckMs) {
      continueAll(pids, spared);
      since = Date.now();
    }
    await sleep(1);
  }
  return false;
}

/** Continues all processes except those that were stopped before the pause. */
export function continueAll(pids: readonly number[], spared: readonly number[]): void {
  for (const pid of [...pids].reverse()) if (!spared.includes(pid)) send(pid, 'SIGCONT');
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // The process has ended meanwhile, ignoring.
    if (!isErrno(error, 'ESRCH')) throw error;
  }
}
