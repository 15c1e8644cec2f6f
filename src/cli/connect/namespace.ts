/**
 * Without root a daemon lives in a user namespace, and what it started can be reached from there only. When it is gone
 * and sandboxes live on, the next one joins them. A keeper is in that namespace itself; where all of them are gone, too,
 * the first process of a sandbox is in one that was made there.
 */
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { enterNamespaceOf, namespaceArgs } from '../../lib/namespace.ts';
import { dist } from '../../lib/package.ts';

/** What a daemon's command begins with to be in the namespaces it wants to live in. */
export function daemonNamespaces(path: string): string[] {
  const uid = process.getuid?.() ?? 0;
  if (uid === 0) return namespaceArgs(uid);
  const home = realpathSync(path);
  const keeper = find(home, 'keeper.pid', isKeeper);
  if (keeper !== null) return namespaceArgs(uid, enterNamespaceOf(keeper));
  const init = find(home, 'pid', isInit);
  return init === null ? namespaceArgs(uid) : [process.execPath, join(dist, 'daemon/enter.js'), String(init)];
}

type Check = (pid: number, id: string, home: string) => boolean;

/** A process recorded under this name for a sandbox, in a user namespace other than this one. */
function find(home: string, name: string, isIt: Check): number | null {
  for (const id of namesIn(join(home, 'engine/run'))) {
    const pid = Number(readOr(join(home, 'engine/run', id, name), ''));
    if (pid > 0 && isIt(pid, id, home) && userNamespace(pid) !== userNamespace('self')) return pid;
  }
  return null;
}

/** A pid from before a reboot may belong to any process by now. */
function isKeeper(pid: number, id: string, home: string): boolean {
  const args = readOr(`/proc/${pid}/cmdline`, '').split('\0');
  return args.includes(id) && args.some((arg) => arg.startsWith(join(home, 'engine/')));
}

/** By the folders of the sandbox that are mounted in it, which nothing inside can change. */
function isInit(pid: number, id: string): boolean {
  return readOr(`/proc/${pid}/mountinfo`, '').includes(`/sandboxes/${id}/`);
}

function userNamespace(pid: number | 'self'): string | null {
  try {
    return readlinkSync(`/proc/${pid}/ns/user`);
  } catch {
    // It ended meanwhile, or belongs to another account, ignoring.
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
