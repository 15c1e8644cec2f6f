/** The ports of the memory and of Chroma in sandboxes, and the sockets of the host that they lead to. */
import { join } from 'node:path';
import { chromaPort } from '../../../extra/chroma/model.ts';
import type { DeclaredService } from '../../network/model/service.ts';
import type { Sandbox, SandboxSpec } from '../../sandbox/model.ts';
import { bankGrant } from '../model/bank.ts';
import { memoryPort } from '../model/memory.ts';
import type { MemorySettings } from './config.ts';

/** A sandbox with only the memory bank starts without the endpoint, because it has the bank's files anyway. */
export function requiresMemory(spec: SandboxSpec): boolean {
  return (spec.memoryScopes?.length ?? 0) > 0;
}

/** The memory: for sandboxes that have a memory scope or the memory bank. */
export function memoryServices(home: string, { spec }: Sandbox): DeclaredService[] {
  if (!requiresMemory(spec) && bankGrant(spec) === null) return [];
  return [{ name: 'memory', port: memoryPort, to: memorySocket(home), identity: 'headers' }];
}

/** Chroma: only if config.yaml configures it and the sandbox has a memory scope. */
export function chromaServices(
  home: string,
  { chroma }: Pick<MemorySettings, 'chroma'>,
  { spec }: Sandbox,
): DeclaredService[] {
  if (chroma === null || !requiresMemory(spec)) return [];
  return [{ name: 'chroma', port: chromaPort, to: chromaSocket(home), identity: 'headers' }];
}

export function memorySocket(home: string): string {
  return join(home, 'memory.sock');
}

export function chromaSocket(home: string): string {
  return join(home, 'chroma.sock');
}
