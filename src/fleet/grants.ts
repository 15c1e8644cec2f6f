/**
 * What a carrel.yaml gives to sandboxes beyond what each has by itself, one line for each: hosts, credentials, services,
 * secrets, volumes, folders outside of its own, and real folders that an agent can write. Commands, variables and limits
 * are no grants: they stay inside.
 */
import { resolve } from 'node:path';
import { canonicalRule } from '../model/network.ts';
import type { FleetContent, SandboxContent } from './schema.ts';

export type GrantingContent = Omit<FleetContent, 'name'>;

/** `folder` is that of the file. */
export function grantsOf(content: GrantingContent, folder: string): string[] {
  const { network, projects = {}, sandboxes = {} } = content;
  const folders = Object.values(projects).map((path) => resolve(folder, path));
  const outside = folders.filter((path) => path !== folder && !path.startsWith(`${folder}/`));
  const ofSandboxes = Object.entries(sandboxes).flatMap(([name, sandbox]) =>
    sandboxGrants(sandbox ?? {}, projects, folder).map((grant) => `${name}: ${grant}`),
  );
  return [...new Set([...networkGrants(network), ...outside.map((path) => `folder ${path}`), ...ofSandboxes])];
}

export function networkGrants(network: FleetContent['network']): string[] {
  return Array.isArray(network) ? network.map((rule) => `network ${spelled(rule)}`) : [];
}

function sandboxGrants(sandbox: SandboxContent, projects: Record<string, string>, folder: string): string[] {
  const { network, credentials = [], services = [], secrets = [], volumes = [], mode, project } = sandbox;
  const bound = mode === 'bind' && project !== undefined ? projects[project] : undefined;
  return [
    ...networkGrants(network),
    ...credentials.map((name) => `credential ${name}`),
    ...services.map((name) => `service ${name}`),
    ...secrets.map((name) => `secret ${name}`),
    ...volumes.map((text) => `volume ${text}`),
    ...(bound === undefined ? [] : [`writes ${resolve(folder, bound)}`]),
  ];
}

/** What is no rule is refused where it is used, ignoring. */
function spelled(rule: string): string {
  try {
    return canonicalRule(rule);
  } catch {
    return rule;
  }
}
