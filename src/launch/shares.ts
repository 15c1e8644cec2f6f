import type { Hook } from './launch.ts';

/** Folders of the host that it has in common with other consumers. Their owner appears as agent. */
export const shares: Hook = {
  surroundings: ({ spec }) => ({
    mounts: (spec.shares ?? []).map(({ folder, identity, target, readonly }) => ({
      kind: 'bind',
      source: folder,
      target,
      readonly,
      mapOwner: true,
      shared: identity,
    })),
  }),
};
