/** Checks the content of a carrel.yaml and fills in defaults. */
import { resolve } from 'node:path';
import type { z } from 'zod';
import { asFault, Fault } from '../../../model/fault.ts';
import type { Limits } from '../../../model/limits.ts';
import { printable } from '../../../model/name.ts';
import { parseSize } from '../../../model/size.ts';
import { type DeclaredGrants, declarable } from '../../grant-table.ts';
import { checkCredentialName } from '../../network/model/credential.ts';
import { usableRule } from '../../network/model/network.ts';
import { parseVolumeRequest, type VolumeRequest } from '../../volume/model.ts';
import type { Declaration, DeclaredProject, DeclaredSandbox, FieldPath, Problem } from './fleet.ts';
import { problem, refusal } from './fleet.ts';
import { type FleetContent, fieldsAt, fleetSchema, type LimitsContent, type SandboxContent } from './schema.ts';
import { watchesOf } from './watch.ts';

/** Relative paths start at `folder`. One fault reports all problems. */
export function declare(content: unknown, folder: string): Declaration {
  if (content === null || content === undefined) throw refusal([problem('invalid', [], 'the file is empty', begin)]);
  const result = fleetSchema.safeParse(content);
  if (!result.success) throw refusal(result.error.issues.flatMap(schemaProblems));
  const found: Problem[] = [];
  const declaration = resolved(result.data, folder, found);
  if (found.length > 0) throw refusal(found);
  return declaration;
}

const begin = 'Begin with name: NAME, or let carrel init write one.';

function schemaProblems(issue: z.core.$ZodIssue): Problem[] {
  const place = issue.path.map((key) => (typeof key === 'number' ? key : String(key)));
  if (issue.code === 'unrecognized_keys') {
    const fields = fieldsAt(place);
    const hint = fields && `Fields of ${place.join('.') || 'the file'}: ${fields.join(', ')}.`;
    return issue.keys.map((key) => problem('invalid', [...place, key], 'there is no such field', hint));
  }
  if (issue.code === 'invalid_key') {
    return [problem('invalid', place, `${printable(String(place.at(-1)))} is not a name`, issue.issues[0]?.message)];
  }
  return [problem('invalid', place, issue.message.replace(/^Invalid input: /, ''), hintFor(issue))];
}

function hintFor(issue: z.core.$ZodIssue): string | null {
  if (issue.code !== 'invalid_type') return null;
  if (issue.expected === 'string') return 'Put numbers and words such as true in quotes.';
  if (issue.expected === 'array') return 'Write a list: [one, two].';
  return null;
}

function resolved(content: FleetContent, folder: string, found: Problem[]): Declaration {
  const projects = Object.entries(content.projects ?? {}).map(([id, path]) => {
    if (path.startsWith('~')) found.push(problem('invalid', ['projects', id], '~ has no meaning here', relativeHint));
    return [id, resolve(folder, path)] as const;
  });
  const { name, volumes = [], secrets = [] } = content;
  const sandboxes = Object.entries(content.sandboxes ?? {});
  return {
    name,
    projects: Object.fromEntries(projects),
    volumes: [...new Set(volumes)],
    secrets: [...new Set(secrets)],
    rooms: Object.keys(content.rooms ?? {}),
    watches: watchesOf(content.rooms ?? {}, secrets, found),
    sandboxes: sandboxes.map(([one, entry]) => sandboxOf(one, entry ?? {}, content, new Map(projects), found)),
  };
}

const relativeHint = 'Write an absolute path, or one that begins at the folder of this file.';

function sandboxOf(
  name: string,
  entry: SandboxContent,
  defaults: FleetContent,
  projects: ReadonlyMap<string, string>,
  found: Problem[],
): DeclaredSandbox {
  const at = (...rest: FieldPath) => ['sandboxes', name, ...rest];
  const project = projectOf(entry.project, projects);
  if (entry.project !== undefined && project === null)
    found.push(problem('invalid', at('project'), `there is no project ${entry.project}`, 'List it under `projects`.'));
  const mode = entry.mode ?? (project === null ? 'none' : 'overlay');
  if (mode !== 'none' && entry.project === undefined)
    found.push(problem('invalid', at('mode'), `mode ${mode} needs a project`, 'Add project: ID.'));
  if (entry.base !== undefined && mode !== 'overlay')
    found.push(problem('invalid', at('base'), `only mode overlay has a base, and this is mode ${mode}`));
  const engine = entry.engine ?? defaults.engine ?? 'local';
  return {
    name,
    project,
    mode,
    base: entry.base ?? 'live',
    engine,
    runtime: entry.runtime ?? null,
    image: entry.image ?? (engine === 'docker' ? defaults.image : undefined) ?? null,
    command: entry.command ?? [],
    env: entry.env ?? {},
    secrets: secretsOf(entry.secrets ?? [], defaults, at('secrets'), found),
    credentials: credentialsOf(entry.credentials ?? [], at('credentials'), found),
    services: [...new Set(entry.services ?? [])],
    ...grantsOf(entry, defaults, at, found),
    network: networkOf(entry, defaults, at(), found),
    limits: { ...limitsOf(defaults.limits), ...limitsOf(entry.limits) },
  };
}

function projectOf(id: string | undefined, projects: ReadonlyMap<string, string>): DeclaredProject | null {
  const path = id === undefined ? undefined : projects.get(id);
  return id === undefined || path === undefined ? null : { id, path };
}

function secretsOf(names: readonly string[], defaults: FleetContent, place: FieldPath, found: Problem[]): string[] {
  const declared = (name: string) => {
    if (defaults.secrets?.includes(name)) return name;
    throw new Fault('invalid', `${name} is not declared`, { hint: 'List it under `secrets`.' });
  };
  return [...new Set(checked(names, place, declared, found))];
}

function grantsOf(
  entry: SandboxContent,
  defaults: FleetContent,
  at: (key: string) => FieldPath,
  found: Problem[],
): DeclaredGrants {
  const lists = declarable.map(({ key, parse, distinct }) => {
    const read = key === 'volumes' ? declaredVolume(defaults) : parse;
    const requests = checked(entry[key] ?? [], at(key), read, found);
    return [key, distinct?.(requests) ?? requests];
  });
  return Object.fromEntries(lists) as DeclaredGrants;
}

/** Reads the volumes of one sandbox. */
function declaredVolume(defaults: FleetContent): (text: string) => VolumeRequest {
  const targets = new Set<string>();
  return (text) => {
    const request = parseVolumeRequest(text);
    if (!defaults.volumes?.some((volume) => volume === request.volume))
      throw new Fault('invalid', `${printable(request.volume)} is not declared`, { hint: 'List it under `volumes`.' });
    if (targets.has(request.target))
      throw new Fault('invalid', `two volumes cannot both be at ${printable(request.target)}`);
    targets.add(request.target);
    return request;
  };
}

function credentialsOf(names: readonly string[], place: FieldPath, found: Problem[]): string[] {
  return [...new Set(checked(names, place, checkCredentialName, found))];
}

function networkOf(entry: SandboxContent, defaults: FleetContent, place: FieldPath, found: Problem[]) {
  const own = entry.network !== undefined;
  const network = entry.network ?? defaults.network ?? null;
  if (network === null || network === 'none') return network;
  const usable = (rule: string) => usableRule(rule, network);
  return [...new Set(checked(network, [...(own ? place : []), 'network'], usable, found))];
}

/** The parsed texts; a text that `read` refuses becomes a problem at its path. */
function checked<T>(texts: readonly string[], place: FieldPath, read: (text: string) => T, found: Problem[]): T[] {
  return texts.flatMap((text, index) => {
    try {
      return [read(text)];
    } catch (error) {
      const { code, message, hint } = asFault(error);
      found.push(problem(code, [...place, index], message, hint));
      return [];
    }
  });
}

function limitsOf({ cpus, memory, swap, pids, disk }: LimitsContent = {}): Partial<Limits> {
  return {
    ...(cpus === undefined ? {} : { cpus }),
    ...(memory === undefined ? {} : { memoryBytes: bytes(memory) }),
    ...(swap === undefined ? {} : { swapBytes: bytes(swap) }),
    ...(pids === undefined ? {} : { pids }),
    ...(disk === undefined ? {} : { diskBytes: bytes(disk) }),
  };
}

function bytes(size: string | number): number {
  return typeof size === 'number' ? size : parseSize(size, 'size');
}
