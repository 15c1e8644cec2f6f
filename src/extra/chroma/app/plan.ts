/** The Chroma server that config.yaml asks for. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { asFault } from '../../../model/fault.ts';
import type { ChromaSettings, RemoteSettings } from '../../../noun/memory/memory.ts';
import { chromaProgram } from '../../../noun/memory/model/package.ts';
import type { ServerPlan } from '../chroma.ts';

export interface PlanParts {
  /** The folder of the lock and the log. */
  readonly folder: string;
  readonly headers: (settings: RemoteSettings) => Readonly<Record<string, string>>;
  /** The name of the volume with the data of a local server, and its owner. */
  readonly volume: string;
  readonly owner: string;
  readonly volumes: { pathOf(name: string): string; init(user: string, at: string): unknown };
  /** The folder of the server's package; null: it is not installed. */
  readonly installed: () => string | null;
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

function localPlan({ installed, folder, volume, volumes, owner, now }: PlanParts): ServerPlan | string {
  const program = installed();
  if (program === null) return 'it is not installed';
  const data = volumes.pathOf(volume);
  if (!existsSync(data)) volumes.init(owner, now());
  return { kind: 'local', program: join(program, chromaProgram), data, folder };
}
