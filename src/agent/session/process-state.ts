/** What the kernel says of a process. */
import { readFileSync } from 'node:fs';

/** Of `task_struct.flags`: it is ending, and may have its files open still. */
const exiting = 0x4;
const sigkill = 1 << 8;

/** Since the machine started; with the pid it identifies a process. Null: there is none. */
export function startTime(pid: number): string | null {
  return fieldsOf(pid)?.[19] ?? null;
}

/** It has ended, or was killed and reads no more. */
export function isEnding(pid: number): boolean {
  const fields = fieldsOf(pid);
  return fields === null || saysEnding(fields);
}

export function saysEnding(fields: readonly string[]): boolean {
  const [state, flags, pending] = [fields[0] ?? '', Number(fields[6]), Number(fields[28])];
  return 'ZXx'.includes(state) || (flags & exiting) !== 0 || (pending & sigkill) !== 0;
}

/** Those after the name, which may contain spaces. */
function fieldsOf(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}
