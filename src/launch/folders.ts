import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Hook } from './launch.ts';

/** What persists as long as the sandbox does: its data, and its home, laid over that of its user. */
export const folders: Hook = {
  surroundings: ({ id, spec }, places) => ({
    mounts: [
      { kind: 'bind', source: join(places.state(id), 'data'), target: '/.data', readonly: false, own: true },
      {
        kind: 'overlay',
        lower: places.userHome(spec.user),
        folder: join(places.state(id), 'home'),
        target: '/home/agent',
        // Without root that would make agent the person, also where no project asks for it.
        mapOwner: !places.rootless,
      },
    ],
  }),
  prepare: ({ id, spec }, places) => {
    mkdirSync(places.userHome(spec.user), { recursive: true, mode: 0o700 });
    for (const name of ['data', 'home/upper', 'home/work']) {
      mkdirSync(join(places.state(id), name), { recursive: true, mode: 0o700 });
    }
  },
};
