/** Processes of the host, distinguished from later ones with the same pid. */
import { readFileSync } from 'node:fs';
import { isErrno, readIfThere } from '../file/file.ts';

export interface ProcessRef {
  readonly pid: number;
  /** When it started, in clock ticks since boot: the pair never repeats within one boot. */
  readonly startTicks: number;
  readonly bootId: string;
}

export function isSameProcess(one: ProcessRef, other: ProcessRef): boolean {
  return one.pid === other.pid && one.startTicks === other.startTicks && one.bootId === other.bootId;
}

let bootId: string | undefined;

export function currentBootId(): string {
  bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return bootId;
}

/** Null: there is no such process, or only its zombie. */
export function processRef(pid: number): ProcessRef | null {
  const found = lookAt(pid);
  return found && { pid, startTicks: found.startTicks, bootId: currentBootId() };
}

export function isAlive(ref: ProcessRef): boolean {
  return lookAtLiving(ref) !== null;
}

export interface ProcessLook {
  /** The state of the first thread: R, S, D, T and so on. */
  readonly state: string;
  readonly parent: number;
}

/** Null: the process is gone. */
export function lookAtLiving(ref: ProcessRef): ProcessLook | null {
  if (ref.bootId !== currentBootId()) return null;
  const found = lookAt(ref.pid);
  return found?.startTicks === ref.startTicks ? found : null;
}

function lookAt(pid: number): (ProcessLook & { readonly startTicks: number }) | null {
  const stat = statOf(pid);
  if (stat === null) return null;
  // The command name is in parentheses and may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 20);
  const state = fields[0]!;
  // If the first thread has ended, others may still hold its files.
  const threads = Number(fields[17]);
  if ((state === 'Z' || state === 'X') && threads <= 1) return null;
  return { state, parent: Number(fields[1]), startTicks: Number(fields[19]) };
}

/** Most of these processes are alive, so the function does not check first whether the file exists. */
function statOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ESRCH')) return null;
    throw error;
  }
}

/** False: the process was gone already. */
export function signalProcess(ref: ProcessRef, signal: NodeJS.Signals): boolean {
  if (!isAlive(ref)) return false;
  try {
    process.kill(ref.pid, signal);
    return true;
  } catch (error) {
    if (isErrno(error, 'ESRCH')) return false;
    throw error;
  }
}

/** The assumed limit if the real one cannot be read. */
const usualDescriptors = 1024;

/** The number of descriptors that this process may have open. */
export function maxDescriptors(): number {
  const found = /^Max open files\s+(\d+)/m.exec(readIfThere('/proc/self/limits') ?? '')?.[1];
  return found === undefined ? usualDescriptors : Number(found);
}
