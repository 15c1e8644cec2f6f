import type { SandboxPart } from '../sandbox/part/part.ts';
import { bankEnv, bankGrant } from './model/bank.ts';
import { memoryEnv } from './model/memory.ts';

/** The folder of the memory bank, and the address at which its tool reaches the daemon. */
export const memory: SandboxPart = {
  additions: (sandbox) => ({ env: bankGrant(sandbox.spec) === null ? {} : { ...memoryEnv, ...bankEnv } }),
};
