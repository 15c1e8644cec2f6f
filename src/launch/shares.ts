import type { Mount } from '../model/mount.ts';
import type { ShareMount } from '../model/share.ts';
import type { Hook } from './launch.ts';

/** Folders of the host that it has in common with other consumers. */
export const shares: Hook = {
  surroundings: ({ spec }) => ({ mounts: (spec.shares ?? []).map(bindOf) }),
};

/** The owner of the folder appears as agent. */
export function bindOf({ folder, identity, target, readonly }: ShareMount): Extract<Mount, { kind: 'bind' }> {
  return { kind: 'bind', source: folder, target, readonly, mapOwner: true, shared: identity };
}
