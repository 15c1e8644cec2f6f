import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Hook, Places } from './launch.ts';

const own = [
  ['data', '/.data'],
  ['home', '/home/agent'],
] as const;

/** The folders that persist as long as the sandbox does. */
export const folders: Hook = {
  surroundings: ({ id }, places) => ({
    mounts: own.map(([name, target]) => ({
      kind: 'bind',
      source: join(places.sandbox(id), name),
      target,
      readonly: false,
      own: true,
    })),
  }),
  prepare: ({ id }, places: Places) => {
    for (const [name] of own) mkdirSync(join(places.sandbox(id), name), { recursive: true, mode: 0o700 });
  },
};
