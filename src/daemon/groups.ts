/**
 * The supplementary groups of the account that starts the daemon. No part of the daemon needs them, so they are dropped,
 * and no mistake further down can give their files to an agent. One exception: an ordinary user may reach a Docker Engine
 * by a group alone, and in a user namespace it is all groups or none. Keepers and runtimes have none in any case.
 */
import { accessSync, constants, type Stats, statSync } from 'node:fs';

/** `engineSocket`: of a Docker Engine; null where there is none. */
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

/** Writable for this process neither as the owner nor as others. */
export function needsGroup({ uid, mode }: Pick<Stats, 'uid' | 'mode'>, self: number): boolean {
  return uid !== self && (mode & 0o002) === 0;
}
