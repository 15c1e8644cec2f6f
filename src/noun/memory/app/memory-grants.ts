import { Fault } from '../../../model/fault.ts';
import type { SandboxRequest } from '../../sandbox/api.ts';
import { distinctScopes, type MemoryGrant } from '../model/memory.ts';

/** Scopes of the memory that a sandbox gets. */
export function memoryGrants({ memoryScopes = [], project }: SandboxRequest): MemoryGrant[] {
  if (project !== undefined || !memoryScopes.some(({ scope }) => scope === 'project'))
    return distinctScopes(memoryScopes);
  throw new Fault('invalid', 'a sandbox without a project has no memory of a project', {
    hint: 'Use --memory-scope user, or name a project.',
  });
}
