/**
 * The supplementary groups of the account that starts the daemon. The daemon does not need them and drops them, so that
 * no later mistake gives an agent access to their files. One exception: an ordinary user may reach a Docker Engine only
 * by a group, and a process in a user namespace can keep only all groups or none. Keepers and runtimes never have them.
 */
import { accessSync, constants, type Stats, statSync } from 'node:fs';

/** `engineSocket`: the socket of a Docker Engine; null: there is none. */
export function dropGroups(rootless: boolean, engineSocket: string | null): void {
  if (rootless && engineSocket !== null && isReachedByGroup(engineSocket)) return;
  try {
    process.setgroups?.([]);
  } catch {
    // A user namespace of another account may forbid it, ignoring: SECURITY.md says what that leaves.
  }
}

function isReachedByGroup(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return needsGroup(statSync(path), process.getuid?.() ?? 0);
  } catch {
    return false;
  }
}

/** Whether only a group lets this process write the file: it is not the owner, and others cannot write. */
export function needsGroup({ uid, mode }: Pick<Stats, 'uid' | 'mode'>, self: number): boolean {
  return uid !== self && (mode & 0o002) === 0;
}
