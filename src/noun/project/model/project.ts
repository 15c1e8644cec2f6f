import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';

/**
 * A project: a folder of the host that is registered under an id, so that the hub can offer it. `bind`: its spoke, the
 * hub and the host see the same files at once. `overlay`: changes stay in a working copy until they are applied.
 * `elsewhere`: the project has no folder on this machine; a program beside its files dials the hub.
 */
export interface Project {
  readonly id: string;
  /** Empty: the project is elsewhere. */
  readonly folder: string;
  readonly mode: ProjectMode;
  /** A shell command that runs its tests, inside; null: none was named. */
  readonly test: string | null;
  /** Words of `--lang`; null or absent: language servers are chosen by the type of a file. */
  readonly languages?: readonly string[] | null;
  /** The image of its spoke, on a Docker Engine; null or absent: the spoke has the programs of the host. */
  readonly image?: string | null;
  readonly createdAt: string;
  /** Why its spoke was last seen unreachable; null or absent: it was not. */
  readonly trouble?: string | null;
}

/**
 * `registered`: the spoke does not run, or has no connection yet; the next call starts it. `healthy`: it is connected and answers.
 * `unreachable`: it has ended, or could not be started.
 */
export const spokeStates = ['registered', 'healthy', 'unreachable'] as const;
export type SpokeState = (typeof spokeStates)[number];

export const projectModes = ['bind', 'overlay', 'elsewhere'] as const;
export type ProjectMode = (typeof projectModes)[number];

/** The folder on this machine. Throws if the project is elsewhere. */
export function hostFolder({ id, mode, folder }: Project): string {
  if (mode !== 'elsewhere') return folder;
  throw new Fault('unsupported', `project ${id} is elsewhere: it has no folder on this machine`);
}

export const projectIdPattern = /^[a-z0-9][a-z0-9._-]{0,47}$/;

export function checkProjectId(id: string): string {
  if (projectIdPattern.test(id)) return id;
  throw new Fault('invalid', `${printable(id)} is not an id of a project`, {
    hint: 'Lower-case letters, digits, ".", "_" and "-", at most 48, the first a letter or a digit.',
  });
}

/** An id from the name of a folder. */
export function projectIdOf(folderName: string): string {
  const id = folderName
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 48);
  return checkProjectId(id || 'project');
}

/** The name of the sandbox of a project. */
export function spokeName(id: string): string {
  return `hub-${id.replaceAll(/[._]/g, '-')}`;
}
