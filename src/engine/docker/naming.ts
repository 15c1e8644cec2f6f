/** The names and labels by which things in a Docker Engine are known to be this installation's. */
import { idPattern } from '../../model/name.ts';

export const labels = {
  installation: 'carrel.installation',
  id: 'carrel.id',
  /** Of the sandbox, for people. */
  name: 'carrel.name',
  /** On volumes of users. */
  volume: 'carrel.volume',
  version: 'carrel.version',
  advisory: 'carrel.advisory',
  runtime: 'carrel.runtime',
} as const;

export const version = '1';

/** For people who look at the engine: nothing is found by it. Ids are of one sandbox in one installation alone. */
export function containerName(sandbox: string, id: string): string {
  return `carrel-${sandbox}-${id}`;
}

/** Of the mount with that number. Each start has its own: one that could not be removed is not to be taken for another. */
export function volumeName(installation: string, id: string, index: number, start: string): string {
  return `${volumeNames(installation, id)}${index}-${start}`;
}

/** What all of them begin with. */
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
