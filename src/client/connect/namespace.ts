/**
 * Without root a daemon runs in a user namespace, and its sandboxes can be reached only from there. When sandboxes
 * outlive their daemon, the next daemon joins that namespace. A keeper runs in the namespace itself. If no keeper is
 * left, the first process of a sandbox leads to it: the namespace of that process was made there.
 */
import { readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn } from '../../lib/file/names-in.ts';
import { programFile } from '../../lib/file/package.ts';
import { enterNamespaceOf, namespaceArgs } from '../../lib/sys/namespace.ts';

/** The command prefix that starts a daemon in its namespaces. */
export function daemonNamespaces(path: string): string[] {
  const uid = process.getuid?.() ?? 0;
  if (uid === 0) return namespaceArgs(uid);
  const home = realpathSync(path);
  const keeper = find(home, 'keeper.pid', isKeeper);
  if (keeper !== null) return namespaceArgs(uid, enterNamespaceOf(keeper));
  const init = find(home, 'pid', isInit);
  return init === null ? namespaceArgs(uid) : [process.execPath, programFile('daemon-enter'), String(init)];
}

type Check = (pid: number, id: string, home: string) => boolean;

/** Finds a process that is recorded under this name for a sandbox and is in another user namespace. */
function find(home: string, name: string, isIt: Check): number | null {
  for (const id of namesIn(join(home, 'engine/run'))) {
    const pid = Number(readOr(join(home, 'engine/run', id, name), ''));
    if (pid > 0 && isIt(pid, id, home) && userNamespace(pid) !== userNamespace('self')) return pid;
  }
  return null;
}

/** Checked by the command line: a pid from before a reboot may belong to another process by now. */
function isKeeper(pid: number, id: string, home: string): boolean {
  const args = readOr(`/proc/${pid}/cmdline`, '').split('\0');
  return args.includes(id) && args.some((arg) => arg.startsWith(join(home, 'engine/')));
}

/** Checked by the folders that are mounted in the sandbox, because no program inside can change these mounts. */
function isInit(pid: number, id: string): boolean {
  return readOr(`/proc/${pid}/mountinfo`, '').includes(`/sandboxes/${id}/`);
}

function userNamespace(pid: number | 'self'): string | null {
  try {
    return readlinkSync(`/proc/${pid}/ns/user`);
  } catch {
    // The process ended meanwhile, or belongs to another account, ignoring.
    return null;
  }
}

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return otherwise;
  }
}
