/** The folders and the port of the agent API; tests use others. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { agentApiPort, sessionsFolder } from '../../model/session.ts';

export interface ApiPaths {
  readonly folder: string;
  readonly cwd: string;
  readonly home: string;
  readonly secrets: string;
  readonly port: number;
}

/** The argument, in JSON, replaces some of the defaults. */
export function apiPathsOf(argument: string | undefined): ApiPaths {
  const home = homedir();
  const cwd = existsSync('/workspace') ? '/workspace' : home;
  const defaults = { folder: sessionsFolder, cwd, home, secrets: '/run/secrets', port: agentApiPort };
  return { ...defaults, ...(JSON.parse(argument ?? '{}') as Partial<ApiPaths>) };
}

/** An abstract socket: it has no file, one process can hold it, and it ends with that process. */
export function socketName({ folder }: ApiPaths): string {
  return `\0carrel-agent-api:${folder}`;
}

export function logPath({ folder }: ApiPaths): string {
  return join(folder, 'agent-api.log');
}
