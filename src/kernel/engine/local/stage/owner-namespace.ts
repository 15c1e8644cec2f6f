/**
 * User namespaces that map an owner to agent: the kernel takes one for a mount with mapped owners. A short-lived
 * process makes each namespace once, and an open descriptor keeps the namespace.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, writeFileSync } from 'node:fs';
import { spawnFault } from '../../../../lib/process/run.ts';
import { Fault } from '../../../../model/fault.ts';

const kept = new Map<string, Promise<number>>();

export interface UserIds {
  readonly uid: number;
  readonly gid: number;
}

/** Null: owner and agent are the same. `keepsOthers`: all other ids are mapped to themselves, else to none. */
export async function shiftBetween(owner: UserIds, agent: UserIds, keepsOthers = false): Promise<number | null> {
  return owner.uid === agent.uid && owner.gid === agent.gid ? null : ownerNamespace(owner, agent, keepsOthers);
}

/** Any such namespace, to try whether a filesystem supports id-mapped mounts. Null: the kernel cannot make one. */
export function anyShift(): Promise<number | null> {
  return ownerNamespace({ uid: 1, gid: 1 }, { uid: 2, gid: 2 }).catch(() => null);
}

export function ownerNamespace(owner: UserIds, agent: UserIds, keepsOthers = false): Promise<number> {
  const key = [owner.uid, owner.gid, agent.uid, agent.gid, keepsOthers].join(':');
  const mapping = keepsOthers ? exchanged : single;
  const made = kept.get(key) ?? makeNamespace(mapping(owner.uid, agent.uid), mapping(owner.gid, agent.gid));
  kept.set(key, made);
  made.catch(() => kept.delete(key));
  return made;
}

function single(owner: number, agent: number): string {
  return `${owner} ${agent} 1\n`;
}

const ids = 0xffff_ffff;

/** All ids, with these two in each other's place. */
export function exchanged(owner: number, agent: number): string {
  if (owner === agent) return `0 0 ${ids}\n`;
  const [low, high] = owner < agent ? [owner, agent] : [agent, owner];
  const parts = [
    [0, 0, low],
    [low, high, 1],
    [low + 1, low + 1, high - low - 1],
    [high, low, 1],
    [high + 1, high + 1, ids - high - 1],
  ] as const;
  return parts.flatMap((part) => (part[2] > 0 ? [`${part.join(' ')}\n`] : [])).join('');
}

async function makeNamespace(uids: string, gids: string): Promise<number> {
  const holder = spawn('unshare', ['--user', '--', 'cat'], { stdio: ['pipe', 'pipe', 'ignore'] });
  holder.on('error', () => {});
  try {
    // An echo proves that the namespace exists: `cat` runs after `unshare` has made it.
    holder.stdin.write('.');
    await Promise.race([once(holder.stdout, 'data'), failed(holder)]);
    writeFileSync(`/proc/${holder.pid}/uid_map`, uids);
    writeFileSync(`/proc/${holder.pid}/gid_map`, gids);
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
