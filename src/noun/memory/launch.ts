import { chromaEnv } from '../../extra/chroma/model.ts';
import type { Hook } from '../sandbox/launch/launch.ts';
import { bankEnv, bankGrant } from './model/bank.ts';
import { memoryEnv } from './model/memory.ts';

/**
 * The folder of the memory bank, the address at which its tool reaches the daemon, and the settings of a Chroma client.
 */
export const memory: Hook = {
  additions: (sandbox) => ({
    env: { ...(bankGrant(sandbox.spec) === null ? {} : { ...memoryEnv, ...bankEnv }), ...chromaEnv(sandbox) },
  }),
};
