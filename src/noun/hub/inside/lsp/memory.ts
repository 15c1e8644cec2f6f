/** The memory that processes use. */
import { readdirSync, readFileSync } from 'node:fs';

const pageBytes = 4096;
const defaultBytes = 2 * 1024 ** 3;

/** Resident memory by process group. */
export function memoryByGroup(): Map<number, number> {
  const groups = new Map<number, number>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const fields = fieldsOf(pid);
    if (fields === null) continue;
    const group = Number(fields[2]);
    groups.set(group, (groups.get(group) ?? 0) + Number(fields[21]) * pageBytes);
  }
  return groups;
}

/** The fields after the name, which may have spaces. Null: the process has ended. */
function fieldsOf(pid: string): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

/** Half of what this sandbox may use. */
export function memoryForServers(): number {
  for (const path of ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes']) {
    try {
      const limit = Number(readFileSync(path, 'utf8'));
      if (limit > 0 && limit < 1024 ** 5) return limit / 2;
    } catch {
      // The file does not exist, ignoring.
    }
  }
  return defaultBytes;
}
