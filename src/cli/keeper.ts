/**
 * Without root a daemon lives in a user namespace, and what it started can be reached from there only. When it is gone
 * and sandboxes live on, the next one joins them: any of their keepers shows the way.
 */
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

/** The process id of a living keeper of this home that is in a user namespace other than ours; null: there is none. */
export function livingKeeper(path: string): number | null {
  const home = realpathSync(path);
  for (const id of namesIn(join(home, 'engine/run'))) {
    const pid = Number(readOr(join(home, 'engine/run', id, 'keeper.pid'), ''));
    if (pid > 0 && isKeeper(pid, id, home) && userNamespace(pid) !== userNamespace('self')) return pid;
  }
  return null;
}

/** A pid from before a reboot may be anybody's by now. */
function isKeeper(pid: number, id: string, home: string): boolean {
  const args = readOr(`/proc/${pid}/cmdline`, '').split('\0');
  return args.includes(id) && args.some((arg) => arg.startsWith(join(home, 'engine/')));
}

function userNamespace(pid: number | 'self'): string | null {
  try {
    return readlinkSync(`/proc/${pid}/ns/user`);
  } catch {
    // It ended meanwhile, or is not ours, ignoring.
    return null;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return otherwise;
  }
}
