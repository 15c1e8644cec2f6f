/**
 * The grants of a carrel.yaml, one line each: hosts, credentials, services, secrets, volumes, rooms, memory, folders outside of the file's
 * own folder, real folders that an agent can write, and watchers of rooms. Commands, variables and limits of a sandbox are not
 * grants: their effect stays inside the sandbox.
 */

import { resolve } from 'node:path';
import { declarable } from '../../grant-table.ts';
import { networkGrants } from '../../network/model/grant-line.ts';
import type { FleetContent, SandboxContent } from './schema.ts';
import { watchGrants } from './watch.ts';

export type GrantingContent = Omit<FleetContent, 'name'>;

export interface FileFolder {
  /** The folder of the carrel.yaml. */
  readonly folder: string;
  /** The resolved path, symlinks included, if it is outside of the folder; null: it is inside. */
  readonly outsideTarget: (path: string) => string | null;
}

export function grantsOf(content: GrantingContent, place: FileFolder): string[] {
  const { network, projects = {}, rooms = {}, sandboxes = {} } = content;
  const outside = Object.values(projects).flatMap((path) => place.outsideTarget(path) ?? []);
  const ofSandboxes = Object.entries(sandboxes).flatMap(([name, sandbox]) =>
    sandboxGrants(sandbox ?? {}, projects, place).map((grant) => `${name}: ${grant}`),
  );
  const folders = outside.map((path) => `folder ${path}`);
  return [...new Set([...networkGrants(network), ...folders, ...watchGrants(rooms), ...ofSandboxes])];
}

function sandboxGrants(sandbox: SandboxContent, projects: Record<string, string>, place: FileFolder): string[] {
  const { network, credentials = [], services = [], secrets = [], mode, project } = sandbox;
  const bound = mode === 'bind' && project !== undefined ? projects[project] : undefined;
  return [
    ...networkGrants(network),
    ...credentials.map((name) => `credential ${name}`),
    ...services.map((name) => `service ${name}`),
    ...secrets.map((name) => `secret ${name}`),
    ...declarable.flatMap(({ key, word }) => (sandbox[key] ?? []).map((text) => `${word} ${text}`)),
    ...(bound === undefined ? [] : [`writes ${place.outsideTarget(bound) ?? resolve(place.folder, bound)}`]),
  ];
}
