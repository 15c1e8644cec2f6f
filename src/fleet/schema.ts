/**
 * What may stand in a carrel.yaml. The JSON Schema for editors is made from this, so the descriptions here are what
 * somebody sees who points at a field.
 */

import { z } from 'zod';
import { maxCredentials } from '../model/credential.ts';
import { sandboxNamePattern, variableNamePattern } from '../model/name.ts';
import { maxRules } from '../model/network.ts';
import { engineNames, runtimeNames, workspaceModes } from '../model/sandbox.ts';
import { secretNamePattern } from '../model/secret.ts';
import { maxServices, serviceNamePattern } from '../model/service.ts';
import { labelPattern, userVolumeTypes } from '../model/volume.ts';

const volumeLabel = z
  .string()
  .regex(labelPattern, 'use 1 to 63 of a-z, 0-9 and "-", starting with a letter or digit')
  .refine((name) => name !== 'chromadb', 'chromadb is mounted into no sandbox');
const declarableVolumes = [...userVolumeTypes, 'base-plugins'] as const;

const maxEntries = 500;

/** Also a project of docker-compose, and a folder in the hub. */
const plainName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'use 1 to 63 of a-z, 0-9, "_" and "-", starting with a letter or digit');
const sandboxName = z
  .string()
  .regex(sandboxNamePattern, 'use 1 to 63 of a-z, 0-9, "_", "." and "-", starting with a letter or digit');
const secretName = z
  .string()
  .regex(secretNamePattern, 'use 1 to 64 of letters, digits, "_", "." and "-", starting with a letter or digit');
const variable = z.string().regex(variableNamePattern, 'use letters, digits and "_", no digit first');
const line = z.string().regex(/^[^\x00-\x1f\x7f]+$/, 'one line without control characters');
const text = z
  .string()
  .regex(/^[^\x00]*$/, 'it cannot hold a NUL byte')
  .max(131_072);

const sizeRule = 'a number of bytes, or one with a unit, such as 512m or 4g';
const size = z.union(
  [
    z.string().regex(/^\d{1,12}(\.\d{1,3})?[kmgtKMGT]?([iI]?[bB])?$/, sizeRule),
    z
      .int()
      .positive()
      .max(2 ** 53 - 1),
  ],
  sizeRule,
);

const limits = z
  .strictObject({
    cpus: z.number().positive().optional().describe('Processors it may use.'),
    memory: size.optional().describe('Memory it may use: 512m, 4g.'),
    swap: size.optional().describe('Memory and swap together: 8g.'),
    pids: z.int().positive().optional().describe('Processes and threads it may have.'),
    disk: size.optional().describe('Disk it may fill, where the filesystem can enforce it: 8g.'),
  })
  .describe('What is left out is up to the installation: 2 cpus, 4g memory, 8g with swap, 512 processes, 8g disk.');

const engine = z.enum(engineNames).describe('What makes sandboxes: the embedded engine, or a Docker Engine.');
const image = line.max(512).describe('An image of the owner’s list as root filesystem, where the engine is docker.');
const network = z
  .union([z.literal('none'), z.array(line.max(300)).max(maxRules)], '`none`, or a list of HOST or HOST:PORT')
  .describe('What a sandbox can reach: none, or a list of HOST or HOST:PORT, with * for single labels.');

const sandbox = z.strictObject({
  project: plainName.optional().describe('The id of one of `projects`; left out, it has none.'),
  mode: z
    .enum(workspaceModes)
    .optional()
    .describe('How the project appears in /workspace: as a working copy, as the real folder, as an own git clone.'),
  base: z
    .enum(['live', 'frozen'])
    .optional()
    .describe('What a working copy is made on: the project as it is, or a copy that cannot move.'),
  engine: engine.optional(),
  runtime: z.enum(runtimeNames).optional().describe('The OCI runtime.'),
  image: image.optional(),
  command: z
    .array(text)
    .min(1)
    .max(4096)
    .optional()
    .describe('Program and arguments as a list: [npm, test]. Left out, it idles until stopped.'),
  env: z
    .record(variable, text)
    .optional()
    .describe('Variables inside. No secrets: those are named under `secrets` and appear as files.'),
  secrets: z.array(secretName).max(100).optional().describe('Those of `secrets` it is given, as /run/secrets/NAME.'),
  credentials: z
    .array(line.max(63))
    .max(maxCredentials)
    .optional()
    .describe('Names of credentials it may use, of `carrel credential ls`; their values stay outside.'),
  services: z
    .array(z.string().regex(serviceNamePattern, 'use 1 to 32 of a-z, 0-9 and "-", starting with a letter'))
    .max(maxServices)
    .optional()
    .describe('Services of config.yaml that it may call, each at its port of 127.0.0.1.'),
  volumes: z.array(line.max(4300)).max(20).optional().describe('Those of `volumes` it has, as NAME:PATH[:ro].'),
  limits: limits.optional(),
  network: network.optional(),
});

export const fleetSchema = z.strictObject({
  name: plainName.describe('Of the fleet. What it created is known by it; fleets of other names are left alone.'),
  engine: engine.optional(),
  image: image.optional(),
  limits: limits.optional(),
  network: network.optional(),
  projects: z
    .record(plainName, line.max(4096))
    .refine(isShort, `at most ${maxEntries}`)
    .optional()
    .describe('Folders by id. A path that is not absolute begins at the folder of this file.'),
  volumes: z
    .array(z.union([z.enum(declarableVolumes), volumeLabel]))
    .max(20)
    .optional()
    .describe('Your volumes that have to exist: types, and names of your own. They are made, and never removed.'),
  secrets: z
    .array(secretName)
    .max(1000)
    .optional()
    .describe('Names of secrets that have to be set, by `carrel secret set NAME`. Never their values.'),
  sandboxes: z
    .record(sandboxName, sandbox.nullable())
    .refine(isShort, `at most ${maxEntries}`)
    .optional()
    .describe('Sandboxes by name.'),
});

export type FleetContent = z.output<typeof fleetSchema>;
export type SandboxContent = NonNullable<NonNullable<FleetContent['sandboxes']>[string]>;
export type LimitsContent = z.output<typeof limits>;

function isShort(entries: object): boolean {
  return Object.keys(entries).length <= maxEntries;
}

/** For editors. */
export function jsonSchema(): object {
  const { $schema, ...rest } = z.toJSONSchema(fleetSchema, { io: 'input', target: 'draft-7' });
  const description = 'A fleet of sandboxes, for `carrel up` and `carrel compose`.';
  return { $schema, title: 'carrel.yaml', description, ...rest };
}

/** The fields that may stand at a place; null where keys are names. */
export function fieldsAt(place: readonly PropertyKey[]): string[] | null {
  let at: unknown = fleetSchema;
  for (const key of place) at = inside(unwrapped(at), key);
  const found = unwrapped(at);
  return found instanceof z.ZodObject ? Object.keys(found.shape) : null;
}

function unwrapped(type: unknown): unknown {
  let at = type;
  while (at instanceof z.ZodOptional || at instanceof z.ZodNullable) at = at.unwrap();
  return at;
}

function inside(type: unknown, key: PropertyKey): unknown {
  if (type instanceof z.ZodObject) return type.shape[key as string];
  return type instanceof z.ZodRecord ? type.valueType : null;
}
