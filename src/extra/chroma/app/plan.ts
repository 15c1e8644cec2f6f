/** The Chroma server that config.yaml asks for. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { asFault } from '../../../model/fault.ts';
import type { ChromaSettings, RemoteSettings } from '../../../noun/memory/app/config.ts';
import { installedAt } from '../../../noun/memory/app/packages.ts';
import { chromaProgram } from '../../../noun/memory/model/package.ts';
import type { Volumes } from '../../../noun/volume/volumes.ts';
import type { ServerPlan } from '../chroma.ts';

export interface PlanParts {
  /** The home of the installation. */
  readonly home: string;
  /** The folder of the lock and the log. */
  readonly folder: string;
  readonly headers: (settings: RemoteSettings) => Readonly<Record<string, string>>;
  /** The name of the volume with the data of a local server, and its owner. */
  readonly volume: string;
  readonly owner: string;
  readonly volumes: Pick<Volumes, 'pathOf' | 'init'>;
  readonly now: () => string;
}

/** Null: no server; a text: why there is none. */
export function planOf(settings: ChromaSettings | null, parts: PlanParts): ServerPlan | string | null {
  if (settings === null) return null;
  return settings.kind === 'remote' ? remotePlan(settings, parts) : localPlan(parts);
}

function remotePlan(settings: RemoteSettings, { headers }: PlanParts): ServerPlan | string {
  try {
    return { kind: 'remote', url: settings.url, headers: headers(settings) };
  } catch (error) {
    return asFault(error).message;
  }
}

function localPlan({ home, folder, volume, volumes, owner, now }: PlanParts): ServerPlan | string {
  const installed = installedAt(home, 'chroma');
  if (installed === null) return 'it is not installed';
  const data = volumes.pathOf(volume);
  if (!existsSync(data)) volumes.init(owner, now());
  return { kind: 'local', program: join(installed, chromaProgram), data, folder };
}
