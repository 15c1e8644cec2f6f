import type { Hook } from './launch.ts';

/** Named storage that outlives the sandbox. It belongs to the user, and agent inside is mapped to that user. */
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
