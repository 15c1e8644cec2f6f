/** Constructs the broker of Chroma. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { RemoteSettings } from '../app/memory/config.ts';
import { BrokerProcess } from '../chroma/broker-process.ts';
import type { Chroma, ServerPlan } from '../chroma/chroma.ts';
import { type ChromaPlace, chromaPlace, chromaPort, chromaTenant, sandboxDatabase } from '../model/chroma.ts';
import { asFault } from '../model/fault.ts';
import { chromaProgram, type MemoryPackage, packageFolderName } from '../model/memory-package.ts';
import type { Sandbox } from '../model/sandbox.ts';
import type { DeclaredService } from '../model/service.ts';
import { volumeName } from '../model/volume.ts';
import type { Volumes } from '../volume/volumes.ts';
import type { Resources } from './resources.ts';

interface ChromaParts extends Pick<Resources, 'home' | 'config' | 'store' | 'owner' | 'now'> {
  readonly volumes: Volumes;
  readonly headers: (settings: RemoteSettings) => Readonly<Record<string, string>>;
}

export function openChroma(parts: ChromaParts): Chroma {
  const { home, store } = parts;
  return new BrokerProcess({
    folder: join(home.home, 'chroma'),
    socket: chromaSocket(home.home),
    plan: () => planOf(parts),
    placeOf: (id) => {
      const sandbox = store.get('sandbox', id)?.value;
      return sandbox === undefined ? null : placeOf(parts, sandbox);
    },
  });
}

type Settled = Pick<Resources, 'home' | 'config'>;

/** Several installations may use one remote server, so the tenant of a user has the id of the installation there. */
export function tenantOf({ config, home }: Settled, user: string): string {
  const tenant = chromaTenant(user);
  return config.memory.chroma?.kind === 'remote' ? `${tenant}-${home.installation}` : tenant;
}

function placeOf(settled: Settled, sandbox: Sandbox): ChromaPlace | null {
  const place = chromaPlace(sandbox);
  return place === null ? null : { ...place, tenant: tenantOf(settled, sandbox.spec.user) };
}

/** Removes the database of a removed sandbox if only that sandbox used it. */
export function releaseChroma(settled: Settled, chroma: Chroma): (sandbox: Sandbox) => Promise<void> {
  return async (sandbox) => {
    const place = placeOf(settled, sandbox);
    if (place?.database === sandboxDatabase(sandbox.id)) await chroma.release(sandbox.id, place);
  };
}

export function chromaVolume({ config, owner }: Pick<Resources, 'config' | 'owner'>): string {
  return volumeName(config.volumePrefix, 'chromadb', owner);
}

function planOf({ home, config, volumes, owner, now, headers }: ChromaParts): ServerPlan | string | null {
  const { chroma } = config.memory;
  if (chroma === null) return null;
  if (chroma.kind === 'remote') {
    try {
      return { kind: 'remote', url: chroma.url, headers: headers(chroma) };
    } catch (error) {
      return asFault(error).message;
    }
  }
  const folder = installedAt(home.home, 'chroma');
  if (folder === null) return 'it is not installed';
  const name = chromaVolume({ config, owner });
  if (!existsSync(volumes.pathOf(name))) volumes.init(owner, now());
  const [program, data] = [join(folder, chromaProgram), volumes.pathOf(name)];
  return { kind: 'local', program, data, folder: join(home.home, 'chroma') };
}

/** Null: the package is not installed. */
export function installedAt(home: string, what: MemoryPackage): string | null {
  const folder = join(home, 'packages', packageFolderName(what));
  return existsSync(join(folder, 'node_modules')) ? folder : null;
}

function chromaSocket(home: string): string {
  return join(home, 'chroma.sock');
}

/** The port of Chroma in a sandbox: only if config.yaml configures Chroma and the sandbox has a memory scope. */
export function chromaServices({ home, config }: Settled, { spec }: Sandbox): DeclaredService[] {
  if (config.memory.chroma === null || !spec.memoryScopes?.length) return [];
  return [{ name: 'chroma', port: chromaPort, to: chromaSocket(home.home), identity: 'headers' }];
}
