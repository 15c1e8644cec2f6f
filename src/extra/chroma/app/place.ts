/** Which tenant and database of the Chroma server belong to a user and to a sandbox. */

import type { Home } from '../../../kernel/home/home.ts';
import type { MemorySettings } from '../../../noun/memory/app/config.ts';
import type { Sandbox } from '../../../noun/sandbox/model.ts';
import type { Chroma } from '../chroma.ts';
import { type ChromaPlace, chromaPlace, chromaTenant, sandboxDatabase } from '../model.ts';

export interface PlaceParts {
  readonly config: { readonly memory: Pick<MemorySettings, 'chroma'> };
  readonly home: Pick<Home, 'installation'>;
}

/** Several installations may use one remote server, so the tenant of a user has the id of the installation there. */
export function tenantOf({ config, home }: PlaceParts, user: string): string {
  const tenant = chromaTenant(user);
  return config.memory.chroma?.kind === 'remote' ? `${tenant}-${home.installation}` : tenant;
}

/** Null: the sandbox has no scope of the memory. */
export function placeOf(parts: PlaceParts, sandbox: Sandbox): ChromaPlace | null {
  const place = chromaPlace(sandbox);
  return place === null ? null : { ...place, tenant: tenantOf(parts, sandbox.spec.user) };
}

/** Removes the database of a removed sandbox if only that sandbox used it. */
export async function releasePlace(
  parts: PlaceParts,
  chroma: Pick<Chroma, 'release'>,
  sandbox: Sandbox,
): Promise<void> {
  const place = placeOf(parts, sandbox);
  if (place?.database === sandboxDatabase(sandbox.id)) await chroma.release(sandbox.id, place);
}
