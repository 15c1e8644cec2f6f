import { bankEnv, bankGrant } from '../model/bank.ts';
import { chromaEnv } from '../model/chroma.ts';
import { memoryEnv } from '../model/memory.ts';
import type { Hook } from './launch.ts';

/** Where carrel-memory and carrel-memory-bank reach the daemon, where the memory bank is, and what a client of Chroma is to name. */
export const memory: Hook = {
  surroundings: (sandbox) => {
    const { spec } = sandbox;
    const bank = bankGrant(spec);
    const isReached = bank !== null || (spec.memoryScopes?.length ?? 0) > 0;
    return { env: { ...(isReached ? memoryEnv : {}), ...(bank === null ? {} : bankEnv), ...chromaEnv(sandbox) } };
  },
};
