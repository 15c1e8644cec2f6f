/** Chroma at a port of sandboxes with a memory scope; the database of a sandbox goes with it. */
import { join } from 'node:path';
import type { Home } from '../../../kernel/home/home.ts';
import { asFault, type Fault } from '../../../model/fault.ts';
import type { Config } from '../../../noun/app.ts';
import type { MemorySettings } from '../../../noun/memory/memory.ts';
import type { Sandbox } from '../../../noun/sandbox/model.ts';
import type { SandboxPart } from '../../../noun/sandbox/part/part.ts';
import type { Chroma } from '../chroma.ts';
import { type ChromaPlace, chromaPlace, chromaPort, chromaTenant, sandboxDatabase } from '../model.ts';

/** The socket at which the broker answers sandboxes. */
export function chromaSocket(home: string): string {
  return join(home, 'chroma.sock');
}

export interface ChromaPartParts extends PlaceParts {
  readonly config: Pick<Config, 'memory'>;
  readonly home: PlaceParts['home'] & { readonly home: string };
  readonly chroma: Pick<Chroma, 'release'>;
  readonly report: (id: string, fault: Fault) => void;
}

export function chromaPart(parts: ChromaPartParts): SandboxPart {
  const { config, home, chroma, report } = parts;
  return {
    services: (sandbox) =>
      config.memory.chroma === null || chromaPlace(sandbox) === null
        ? []
        : [{ name: 'chroma', port: chromaPort, to: chromaSocket(home.home), identity: 'headers' }],
    // If the server does not answer, the database stays there, but no sandbox reaches it any more.
    release: (sandbox) =>
      releasePlace(parts, chroma, sandbox).catch((error: unknown) => report(sandbox.id, asFault(error))),
  };
}

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
