import { memoryEnv } from '../model/memory.ts';
import type { Hook } from './launch.ts';

/** Where carrel-memory reaches the daemon. */
export const memory: Hook = {
  surroundings: ({ spec }) => (spec.memoryScopes?.length ? { env: memoryEnv } : {}),
};
