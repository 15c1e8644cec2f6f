/** Which process listens at a port of another network namespace. Linux only. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface ListeningProcess {
  readonly pid: number;
  /** Its arguments, the program first. */
  readonly arguments: readonly string[];
}

const listening = '0A';

/**
 * Searches the network namespace and the pid namespace of the process `pid`. Null: there is no listener, or this
 * process may not look.
 */
export function listenerAt(port: number, pid: number): ListeningProcess | null {
  try {
    const sockets = socketsAt(port, readFileSync(`/proc/${pid}/net/tcp`, 'utf8'));
    if (sockets.size === 0) return null;
    const own = readlinkSync(`/proc/${pid}/ns/pid`);
    for (const name of readdirSync('/proc')) {
      if (/^\d+$/.test(name) && isIn(name, own) && holds(name, sockets)) return found(Number(name));
    }
  } catch {
    // The process has ended meanwhile, or belongs to another account, ignoring.
  }
  return null;
}

function found(pid: number): ListeningProcess {
  return { pid, arguments: readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1) };
}

/** The sockets that listen at the port, named as in the list of a process's open files. */
function socketsAt(port: number, table: string): ReadonlySet<string> {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = table.split('\n').map((line) => line.trim().split(/\s+/));
  const at = rows.filter(([, local = '', , state]) => local.endsWith(end) && state === listening);
  return new Set(at.map((row) => `socket:[${row[9]}]`));
}

function isIn(pid: string, namespace: string): boolean {
  return link(`/proc/${pid}/ns/pid`) === namespace;
}

function holds(pid: string, sockets: ReadonlySet<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => sockets.has(link(`/proc/${pid}/fd/${fd}`) ?? ''));
  } catch {
    return false;
  }
}

function link(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
