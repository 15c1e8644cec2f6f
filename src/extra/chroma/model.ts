/** Chroma for sandboxes: which tenant and database a sandbox has. */
import { createHash } from 'node:crypto';
import type { MemoryGrant } from '../../noun/memory/model/memory.ts';

/** The port on the sandbox's loopback at which clients of Chroma look for a server. */
export const chromaPort = 8000;

/** The one place that a sandbox has in the server. */
export interface ChromaPlace {
  readonly tenant: string;
  readonly database: string;
  readonly readonly: boolean;
}

/** The part of a sandbox's record that decides its place. */
export interface ChromaHolder {
  readonly id: string;
  readonly spec: {
    readonly user: string;
    readonly project?: string | null | undefined;
    readonly memoryScopes?: readonly MemoryGrant[] | undefined;
  };
}

export const chromaTenant = (user: string): string => `carrel-${user}`;
export const sandboxDatabase = (id: string): string => `sandbox-${id}`;

/** The tenant is the user, the database the first scope of the sandbox. Null: it has no scope. */
export function chromaPlace({ id, spec }: ChromaHolder): ChromaPlace | null {
  const grant = spec.memoryScopes?.[0];
  if (grant === undefined) return null;
  const tenant = chromaTenant(spec.user);
  if (grant.scope === 'user') return { tenant, database: 'user', readonly: grant.readonly };
  const database = grant.scope === 'sandbox' ? sandboxDatabase(id) : `project-${digest(spec.project ?? '')}`;
  return { tenant, database, readonly: grant.readonly };
}

export function chromaEnv(holder: ChromaHolder): Readonly<Record<string, string>> {
  const place = chromaPlace(holder);
  return place === null ? {} : { CHROMA_TENANT: place.tenant, CHROMA_DATABASE: place.database };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
