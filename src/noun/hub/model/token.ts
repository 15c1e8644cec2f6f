import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';

/**
 * The groups of the hub's tools. `apply` and `spoke` contain no tools. With `apply`, environments are applied without
 * asking, unless a change is gated. With `spoke`, a program elsewhere may be the spoke of a project.
 */
export const toolGroups = [
  'files',
  'code',
  'run',
  'environment',
  'swarm',
  'rooms',
  'memory',
  'apply',
  'spoke',
] as const;
export type ToolGroup = (typeof toolGroups)[number];

/** The groups that a caller gets if it names none. */
export const defaultGroups: readonly ToolGroup[] = ['files', 'code', 'run'];

export type ProjectGrant = '*' | readonly string[];

/** A token for the hub: what it grants. The token itself is never stored. */
export interface HubToken {
  readonly id: string;
  readonly projects: ProjectGrant;
  readonly groups: readonly ToolGroup[];
  readonly createdAt: string;
  readonly expiresAt: string;
  /** The time of the last use. After a crash it may be some minutes too early. */
  readonly usedAt: string | null;
}

export const maxTokenProjects = 100;
export const maxTokenSeconds = 366 * 86_400;
export const defaultTokenSeconds = 8 * 3600;

export const hubTokenIdPattern = /^[0-9a-f]{16}$/;

export function checkHubTokenId(id: string): string {
  if (hubTokenIdPattern.test(id)) return id;
  throw new Fault('invalid', `${printable(id)} is not an id of a token`, { hint: 'See: carrel hub token ls' });
}
