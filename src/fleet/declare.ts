/** Content of a carrel.yaml → what it declares: checked, with its defaults filled in. */
import { resolve } from 'node:path';
import type { z } from 'zod';
import { asFault } from '../model/fault.ts';
import type { Limits } from '../model/limits.ts';
import { printable } from '../model/name.ts';
import { parseSize } from '../model/size.ts';
import { parseVolumeRequest, type VolumeRequest } from '../model/volume.ts';
import type { Declaration, DeclaredProject, DeclaredSandbox, Place, Problem } from './fleet.ts';
import { problem, refusal } from './problem.ts';
import { type FleetContent, fieldsAt, fleetSchema, type LimitsContent, type SandboxContent } from './schema.ts';

/** `folder` is where paths that are not absolute begin. What is wrong is refused, all of it at once. */
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
  return [problem('invalid', place, issue.message.replace(/^Invalid input: /, ''), cureFor(issue))];
}

function cureFor(issue: z.core.$ZodIssue): string | null {
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
  const at = (...rest: Place) => ['sandboxes', name, ...rest];
  const project = projectOf(entry.project, projects);
  if (entry.project !== undefined && project === null)
    found.push(problem('invalid', at('project'), `there is no project ${entry.project}`, 'List it under `projects`.'));
  const mode = entry.mode ?? (project === null ? 'none' : 'overlay');
  if (mode !== 'none' && entry.project === undefined)
    found.push(problem('invalid', at('mode'), `mode ${mode} needs a project`, 'Add project: ID.'));
  if (entry.base !== undefined && mode !== 'overlay')
    found.push(problem('invalid', at('base'), `a base is chosen in mode overlay only, not in mode ${mode}`));
  const secrets = entry.secrets ?? [];
  for (const [index, secret] of secrets.entries()) {
    if (!defaults.secrets?.includes(secret))
      found.push(problem('invalid', at('secrets', index), `${secret} is not declared`, 'List it under `secrets`.'));
  }
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
    secrets: [...new Set(secrets)],
    volumes: volumesOf(entry.volumes ?? [], defaults, at('volumes'), found),
    limits: { ...limitsOf(defaults.limits), ...limitsOf(entry.limits) },
  };
}

function projectOf(id: string | undefined, projects: ReadonlyMap<string, string>): DeclaredProject | null {
  const path = id === undefined ? undefined : projects.get(id);
  return id === undefined || path === undefined ? null : { id, path };
}

function volumesOf(texts: readonly string[], defaults: FleetContent, place: Place, found: Problem[]): VolumeRequest[] {
  const targets = new Set<string>();
  return texts.flatMap((text, index) => {
    const request = volumeOf(text, defaults, [...place, index], found);
    if (request === null) return [];
    if (targets.has(request.target))
      found.push(problem('invalid', [...place, index], `two volumes cannot both be at ${printable(request.target)}`));
    targets.add(request.target);
    return [request];
  });
}

function volumeOf(text: string, { volumes = [] }: FleetContent, place: Place, found: Problem[]): VolumeRequest | null {
  try {
    const request = parseVolumeRequest(text);
    if (volumes.some((volume) => volume === request.volume)) return request;
    const message = `${printable(request.volume)} is not declared`;
    found.push(problem('invalid', place, message, 'List it under `volumes`.'));
  } catch (error) {
    const fault = asFault(error);
    found.push(problem(fault.code, place, fault.message, fault.hint));
  }
  return null;
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
