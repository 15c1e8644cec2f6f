/** Processes of the host, told apart from later ones that got the same number. */
import { readFileSync } from 'node:fs';
import { isErrno, readIfThere } from './file.ts';

export interface ProcessRef {
  readonly pid: number;
  /** When it started, in clock ticks since boot: the pair never repeats within one boot. */
  readonly startTicks: number;
  readonly bootId: string;
}

let bootId: string | undefined;

function currentBootId(): string {
  bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return bootId;
}

/** Null when there is no such process, or only its zombie. */
export function processRef(pid: number): ProcessRef | null {
  const stat = readIfThere(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // The command name is in parentheses and may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // What its first thread is says nothing about the others, who hold its files.
  const threads = Number(fields[17]);
  if ((fields[0] === 'Z' || fields[0] === 'X') && threads <= 1) return null;
  return { pid, startTicks: Number(fields[19]), bootId: currentBootId() };
}

export function isAlive(ref: ProcessRef): boolean {
  if (ref.bootId !== currentBootId()) return false;
  return processRef(ref.pid)?.startTicks === ref.startTicks;
}

/** False when it was gone already. */
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
