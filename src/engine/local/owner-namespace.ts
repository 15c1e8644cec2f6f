/**
 * User namespaces that map an owner to agent: the kernel takes one for a mount with mapped owners. A short-lived
 * process makes each once, and a descriptor keeps it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, writeFileSync } from 'node:fs';
import { spawnFault } from '../../lib/run.ts';
import { Fault } from '../../model/fault.ts';

const kept = new Map<string, Promise<number>>();

export interface Ids {
  readonly uid: number;
  readonly gid: number;
}

/** Null where they are the same. */
export async function shiftBetween(owner: Ids, agent: Ids): Promise<number | null> {
  return owner.uid === agent.uid && owner.gid === agent.gid ? null : ownerNamespace(owner, agent);
}

/** One of them, to try whether a filesystem supports id-mapped mounts. Null where there are none. */
export function anyShift(): Promise<number | null> {
  return ownerNamespace({ uid: 1, gid: 1 }, { uid: 2, gid: 2 }).catch(() => null);
}

export function ownerNamespace(owner: Ids, agent: Ids): Promise<number> {
  const key = [owner.uid, owner.gid, agent.uid, agent.gid].join(':');
  const made = kept.get(key) ?? makeNamespace(owner, agent);
  kept.set(key, made);
  made.catch(() => kept.delete(key));
  return made;
}

async function makeNamespace(owner: Ids, agent: Ids): Promise<number> {
  const holder = spawn('unshare', ['--user', '--', 'cat'], { stdio: ['pipe', 'pipe', 'ignore'] });
  holder.on('error', () => {});
  try {
    // An echo proves that the namespace exists: `cat` runs after `unshare` has made it.
    holder.stdin.write('.');
    await Promise.race([once(holder.stdout, 'data'), failed(holder)]);
    writeFileSync(`/proc/${holder.pid}/uid_map`, `${owner.uid} ${agent.uid} 1\n`);
    writeFileSync(`/proc/${holder.pid}/gid_map`, `${owner.gid} ${agent.gid} 1\n`);
    return openSync(`/proc/${holder.pid}/ns/user`, 'r');
  } finally {
    holder.kill('SIGKILL');
  }
}

async function failed(holder: ReturnType<typeof spawn>): Promise<never> {
  const [reason] = await Promise.race([once(holder, 'exit'), once(holder, 'error')]);
  if (reason instanceof Error) throw spawnFault('unshare', reason);
  throw new Fault('unsupported', 'this kernel refuses to make a user namespace', { hint: 'See carrel doctor.' });
}
