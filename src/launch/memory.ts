import { bankEnv, bankGrant } from '../model/bank.ts';
import { chromaEnv } from '../model/chroma.ts';
import { memoryEnv } from '../model/memory.ts';
import type { Hook } from './launch.ts';

/** Where the memory bank is, where its tool reaches the daemon, and what a client of Chroma is to name. */
export const memory: Hook = {
  surroundings: (sandbox) => ({
    env: { ...(bankGrant(sandbox.spec) === null ? {} : { ...memoryEnv, ...bankEnv }), ...chromaEnv(sandbox) },
  }),
};
