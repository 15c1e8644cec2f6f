/** The names and labels that mark things in a Docker Engine as this installation's. */
import { idPattern } from '../../../model/name.ts';

export const labels = {
  installation: 'carrel.installation',
  id: 'carrel.id',
  /** The name of the sandbox, for people. */
  name: 'carrel.name',
  /** The name of a volume of a user. */
  volume: 'carrel.volume',
  version: 'carrel.version',
  advisory: 'carrel.advisory',
  runtime: 'carrel.runtime',
} as const;

export const version = '1';

/** A name for people who look at the engine; the daemon does not search by it. The id makes it unique. */
export function containerName(sandbox: string, id: string): string {
  return `carrel-${sandbox}-${id}`;
}

/**
 * The volume of the mount with that index. Each start has its own names: a volume that could not be removed must not be
 * reused.
 */
export function volumeName(installation: string, id: string, index: number, start: string): string {
  return `${volumeNames(installation, id)}${index}-${start}`;
}

/** The common prefix of the volume names of a sandbox. */
export function volumeNames(installation: string, id: string): string {
  return `carrel-${installation}-${id}-`;
}

export function installationFilter(installation: string): { label: string[] } {
  return { label: [`${labels.installation}=${installation}`] };
}

export function labelFilter(installation: string, id: string): { label: string[] } {
  return { label: [...installationFilter(installation).label, `${labels.id}=${id}`] };
}

export function idIn(found: Readonly<Record<string, string>> | null | undefined): string | null {
  const id = found?.[labels.id];
  return id !== undefined && idPattern.test(id) ? id : null;
}
