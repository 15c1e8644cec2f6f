import { bankEnv, bankGrant } from '../model/bank.ts';
import { chromaEnv } from '../model/chroma.ts';
import { memoryEnv } from '../model/memory.ts';
import type { Hook } from './launch.ts';

/**
 * The folder of the memory bank, the address at which its tool reaches the daemon, and the settings of a Chroma client.
 */
export const memory: Hook = {
  additions: (sandbox) => ({
    env: { ...(bankGrant(sandbox.spec) === null ? {} : { ...memoryEnv, ...bankEnv }), ...chromaEnv(sandbox) },
  }),
};
