/** The state of a process in /proc. */
import { readFileSync } from 'node:fs';

/** In `task_struct.flags`: the process is ending, and may still have files open. */
const exiting = 0x4;
const sigkill = 1 << 8;

/** In ticks since boot; together with the pid it identifies a process. Null: the process does not exist. */
export function startTime(pid: number): string | null {
  return fieldsOf(pid)?.[19] ?? null;
}

/** True: the process has ended, or was killed and does not read any more. */
export function isEnding(pid: number): boolean {
  const fields = fieldsOf(pid);
  return fields === null || saysEnding(fields);
}

export function saysEnding(fields: readonly string[]): boolean {
  const [state, flags, pending] = [fields[0] ?? '', Number(fields[6]), Number(fields[28])];
  return 'ZXx'.includes(state) || (flags & exiting) !== 0 || (pending & sigkill) !== 0;
}

/** The fields after the name, which may contain spaces. */
function fieldsOf(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}
