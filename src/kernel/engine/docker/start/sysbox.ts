/**
 * The differences of sysbox-runc, which is used only when asked for by name. Its containers are always in a user
 * namespace, with ids from /etc/subuid unless the Docker Engine maps ids itself. It takes no seccomp filter but its
 * own, which does not prevent set-user-id files.
 */
import { readIfThere } from '../../../../lib/file/file.ts';
import { Fault } from '../../../../model/fault.ts';
import type { Mount } from '../../../../model/mount.ts';
import type { EngineFacts } from '../connection/facts.ts';

export const sysbox = 'sysbox-runc';

/** The offset of the ids: all containers of sysbox-runc have the first ids of that range. */
export function sysboxShift({ shift }: Pick<EngineFacts, 'shift'>): NonNullable<EngineFacts['shift']> {
  return shift ?? { uid: lent('/etc/subuid'), gid: lent('/etc/subgid') };
}

function lent(path: string): number {
  const first = /^sysbox:(\d+):\d+$/m.exec(readIfThere(path) ?? '')?.[1];
  if (first !== undefined) return Number(first);
  throw new Fault('unsupported', `${sysbox} has no ids: ${path} has no line for the user sysbox`, {
    hint: 'Start sysbox-mgr, which writes it; or leave --runtime out.',
  });
}

/**
 * Refuses to bind a folder of another owner: files that agent makes in it belong to that owner, so a set-user-id file
 * would run as that owner.
 */
export function refuseOwnersFolders(mounts: readonly Mount[]): void {
  const bound = mounts.find((mount) => mount.kind === 'bind' && !mount.readonly && mount.mapOwner && !mount.volume);
  if (bound?.kind !== 'bind') return;
  throw new Fault('unsupported', `${sysbox} does not keep agent from making set-user-id files in ${bound.source}`, {
    hint: 'Use --mode overlay, or leave --runtime out.',
  });
}
