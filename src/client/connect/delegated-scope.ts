/**
 * An ordinary user can limit memory and processors only in a delegated control group. The user's systemd manager makes
 * one on request. It is removed with all its processes at the user's last logout, unless lingering is enabled. Sandboxes
 * must survive a logout, so the daemon asks for one only with lingering.
 */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { accountName } from '../../lib/sys/account.ts';

export interface SessionFacts {
  readonly uid: number;
  readonly account: string;
  readonly path: string;
  readonly exists: (path: string) => boolean;
}

/** The command prefix that puts a daemon into such a group; empty if no such group is available. */
export function scopeArgs(facts: SessionFacts = currentFacts()): string[] {
  const { uid, account, path, exists } = facts;
  const required = [
    '/sys/fs/cgroup/cgroup.controllers',
    join('/var/lib/systemd/linger', account),
    join(runtimeFolder(uid), 'systemd/private'),
  ];
  if (uid === 0 || !required.every(exists)) return [];
  if (!path.split(delimiter).some((folder) => exists(join(folder, 'systemd-run')))) return [];
  return ['systemd-run', '--user', '--scope', '--quiet', '--collect', '--property=Delegate=yes', '--'];
}

/** The variable that leads to the manager's socket; sessions of su and cron lack it. */
export function scopeEnv({ uid, exists }: Pick<SessionFacts, 'uid' | 'exists'> = currentFacts()): NodeJS.ProcessEnv {
  const folder = runtimeFolder(uid);
  return uid !== 0 && exists(folder) ? { XDG_RUNTIME_DIR: folder } : {};
}

/** Whether the text is an error of systemd-run itself; a daemon's own errors begin differently. */
export function isScopeRefused(words: string): boolean {
  return /^(Failed to|Job failed|Unknown assignment)/m.test(words);
}

function runtimeFolder(uid: number): string {
  return `/run/user/${uid}`;
}

function currentFacts(): SessionFacts {
  const { getuid, env } = process;
  return { uid: getuid?.() ?? 0, account: accountName(), path: env.PATH ?? '', exists: existsSync };
}
