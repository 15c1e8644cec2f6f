/** The memory at a port of the sandbox; the notes of its own scope go with it. */
import type { SandboxPart } from '../../sandbox/part/part.ts';
import type { LiveMemories } from './live-memories.ts';
import { memoryServices, requiresMemory } from './services.ts';

export function memoryPart(home: string, memories: Pick<LiveMemories, 'release'>): SandboxPart {
  return {
    services: (sandbox) => memoryServices(home, sandbox),
    requiresServices: ({ spec }) => requiresMemory(spec),
    release: (sandbox) => memories.release(sandbox),
  };
}
