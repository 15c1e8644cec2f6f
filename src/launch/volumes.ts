import type { Hook } from './launch.ts';

/** Named storage that outlives the sandbox. It is the user's, and inside agent is the user. */
export const volumes: Hook = {
  surroundings: ({ spec }, places) => ({
    mounts: (spec.volumes ?? []).map(({ name, target, readonly }) => ({
      kind: 'bind',
      source: places.volume(name),
      target,
      readonly,
      volume: name,
      mapOwner: true,
    })),
  }),
};
