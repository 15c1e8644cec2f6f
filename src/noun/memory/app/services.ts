/** The port of the memory in sandboxes, and the socket of the host that it leads to. */
import { join } from 'node:path';
import type { DeclaredService } from '../../network/model/service.ts';
import type { Sandbox, SandboxSpec } from '../../sandbox/model.ts';
import { bankGrant } from '../model/bank.ts';
import { memoryPort } from '../model/memory.ts';

/** A sandbox with only the memory bank starts without the endpoint, because it has the bank's files anyway. */
export function requiresMemory(spec: SandboxSpec): boolean {
  return (spec.memoryScopes?.length ?? 0) > 0;
}

/** The memory: for sandboxes that have a memory scope or the memory bank. */
export function memoryServices(home: string, { spec }: Sandbox): DeclaredService[] {
  if (!requiresMemory(spec) && bankGrant(spec) === null) return [];
  return [{ name: 'memory', port: memoryPort, to: memorySocket(home), identity: 'headers' }];
}

export function memorySocket(home: string): string {
  return join(home, 'memory.sock');
}
