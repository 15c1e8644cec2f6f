/**
 * What sysbox-runc, which somebody has to ask for by name, does in its own way. Its containers are always in a user
 * namespace, over ids that /etc/subuid lends it unless the Docker Engine says which. And it takes no filter of system
 * calls but its own, which keeps nobody from making set-user-id files.
 */
import { readIfThere } from '../../lib/file.ts';
import { Fault } from '../../model/fault.ts';
import type { Mount } from '../../model/mount.ts';
import type { Facts } from './facts.ts';

export const sysbox = 'sysbox-runc';

/** All its containers have the first ids of what it is lent. */
export function sysboxShift({ shift }: Pick<Facts, 'shift'>): NonNullable<Facts['shift']> {
  return shift ?? { uid: lent('/etc/subuid'), gid: lent('/etc/subgid') };
}

function lent(path: string): number {
  const first = /^sysbox:(\d+):\d+$/m.exec(readIfThere(path) ?? '')?.[1];
  if (first !== undefined) return Number(first);
  throw new Fault('unsupported', `${sysbox} is lent no ids: ${path} has no line for the user sysbox`, {
    hint: 'Start sysbox-mgr, which writes it; or leave --runtime out.',
  });
}

/** Files made there belong to the owner of the folder, so with that bit they would run as that owner. */
export function refuseOwnersFolders(mounts: readonly Mount[]): void {
  const bound = mounts.find((mount) => mount.kind === 'bind' && !mount.readonly && mount.mapOwner && !mount.volume);
  if (bound?.kind !== 'bind') return;
  throw new Fault('unsupported', `${sysbox} does not keep agent from making set-user-id files in ${bound.source}`, {
    hint: 'Use --mode overlay, or leave --runtime out.',
  });
}
