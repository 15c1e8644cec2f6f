/**
 * The keys of a carrel.yaml. The JSON Schema for editors and `docs/carrel-yaml.md` are made from this (`npm run docs`), so each key
 * has a description and an example.
 */

import { z } from 'zod';
import { engineNames, runtimeNames } from '../../../model/engine.ts';
import { sandboxNamePattern, variableNamePattern } from '../../../model/name.ts';
import { type DeclaredGrants, declarable } from '../../grant-table.ts';
import { maxCredentials } from '../../network/model/credential.ts';
import { maxRules } from '../../network/model/network.ts';
import { maxServices, serviceNamePattern } from '../../network/model/service.ts';
import { workspaceModes } from '../../sandbox/model.ts';
import { labelPattern, userVolumeTypes } from '../../volume/model.ts';
import { argv, isShort, maxEntries, secretName, text } from './field.ts';
import { rooms } from './room-schema.ts';

const volumeLabel = z
  .string()
  .regex(labelPattern, 'use 1 to 63 of a-z, 0-9 and "-", starting with a letter or digit')
  .refine((name) => name !== 'chromadb', 'chromadb is mounted into no sandbox');
const declarableVolumes = [...userVolumeTypes, 'base-plugins'] as const;

/** Also used as a project of docker-compose and as a folder in the hub. */
const plainName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'use 1 to 63 of a-z, 0-9, "_" and "-", starting with a letter or digit');
const sandboxName = z
  .string()
  .regex(sandboxNamePattern, 'use 1 to 63 of a-z, 0-9, "_", "." and "-", starting with a letter or digit');
const variable = z.string().regex(variableNamePattern, 'use letters, digits and "_", no digit first');
const line = z.string().regex(/^[^\x00-\x1f\x7f]+$/, 'one line without control characters');

const sizeRule = 'a number of bytes, or one with a unit, such as 512m or 4g';
const size = z
  .union(
    [
      z.string().regex(/^\d{1,12}(\.\d{1,3})?[kmgtKMGT]?([iI]?[bB])?$/, sizeRule),
      z
        .int()
        .positive()
        .max(2 ** 53 - 1),
    ],
    sizeRule,
  )
  .meta({ title: 'size' });

const inherited = 'Default: that of the fleet, else `limits` of config.yaml.';
const limits = z
  .strictObject({
    cpus: z
      .number()
      .positive()
      .optional()
      .meta({ description: `Processors. ${inherited}`, examples: [1.5] }),
    memory: size.optional().meta({ description: `Memory. ${inherited}`, examples: ['2g'] }),
    swap: size.optional().meta({ description: `Memory and swap together. ${inherited}`, examples: ['4g'] }),
    pids: z
      .int()
      .positive()
      .optional()
      .meta({ description: `Processes and threads. ${inherited}`, examples: [256] }),
    disk: size.optional().meta({
      description: `Disk space, enforced where the filesystem can enforce it. ${inherited}`,
      examples: ['20g'],
    }),
  })
  .describe('What a sandbox may use.');

const engine = z.enum(engineNames).meta({
  description:
    'The engine: `local` is the embedded one, `docker` a Docker Engine. Default: that of the fleet, else `local`.',
  examples: ['local'],
});
const image = line.max(512).meta({
  description:
    'The root filesystem where the engine is `docker`: an image of the list in config.yaml, or one built here. Default: that of the fleet, else the programs of the machine.',
  examples: ['carrel-sandbox-shop'],
});
const network = z
  .union([z.literal('none'), z.array(line.max(300)).max(maxRules)], '`none`, or a list of HOST or HOST:PORT')
  .meta({
    description:
      'What a sandbox may reach: `none`, or a list of HOST or HOST:PORT. `*` stands for one label of a name. Default: that of the fleet, else `network.allow` of config.yaml.',
    examples: [['registry.npmjs.org', '*.githubusercontent.com']],
  });

const grants = Object.fromEntries(
  declarable.map(({ key, most, maxText, description, example }) => {
    const list = z.array(line.max(maxText)).max(most).optional();
    return [key, list.meta({ description, examples: [example] })];
  }),
) as { readonly [K in keyof DeclaredGrants]: z.ZodOptional<z.ZodArray<z.ZodString>> };

const sandbox = z.strictObject({
  project: plainName.optional().meta({
    description: 'The id of one of `projects`. Default: no project.',
    examples: ['shop'],
  }),
  mode: z
    .enum(workspaceModes)
    .optional()
    .meta({
      description:
        'How the project appears in /workspace: `overlay` is a working copy, `bind` the real folder, `clone` a git clone of its own. Default: `overlay` with a project.',
      examples: ['overlay'],
    }),
  base: z
    .enum(['live', 'frozen'])
    .optional()
    .meta({
      description: 'What a working copy is based on: the project as it is now, or a copy that does not change.',
      default: 'live',
      examples: ['live'],
    }),
  engine: engine.optional(),
  runtime: z
    .enum(runtimeNames)
    .optional()
    .meta({
      description: 'The OCI runtime. Default: `runtime` of config.yaml.',
      examples: ['crun'],
    }),
  image: image.optional(),
  command: argv.optional().meta({
    description: 'Program and arguments as a list. Default: the sandbox idles until it is stopped.',
    examples: [['npm', 'test']],
  }),
  env: z
    .record(variable, text)
    .optional()
    .meta({
      description:
        'Environment variables. Not for secrets: those go under `secrets` and appear as files. Default: none.',
      examples: [{ NODE_ENV: 'test' }],
    }),
  secrets: z
    .array(secretName)
    .max(100)
    .optional()
    .meta({
      description: 'Entries of `secrets` that it gets, as /run/secrets/NAME. Default: none.',
      examples: [['NPM_TOKEN']],
    }),
  credentials: z
    .array(line.max(63))
    .max(maxCredentials)
    .optional()
    .meta({
      description:
        'Credentials it may use (`carrel credential ls`). The keys stay outside of the sandbox. Default: none.',
      examples: [['claude']],
    }),
  services: z
    .array(z.string().regex(serviceNamePattern, 'use 1 to 32 of a-z, 0-9 and "-", starting with a letter'))
    .max(maxServices)
    .optional()
    .meta({
      description: 'Services of config.yaml that it may call, each at its port of 127.0.0.1. Default: none.',
      examples: [['notes']],
    }),
  ...grants,
  limits: limits.optional(),
  network: network.optional(),
});

export const fleetSchema = z.strictObject({
  name: plainName.meta({
    description: 'The name of the fleet. `carrel up` changes and removes only sandboxes of the fleet of this name.',
    examples: ['my-projects'],
  }),
  engine: engine.optional(),
  image: image.optional(),
  limits: limits.optional(),
  network: network.optional(),
  projects: z
    .record(plainName, line.max(4096))
    .refine(isShort, `at most ${maxEntries}`)
    .optional()
    .meta({
      description: 'Folders by id. A relative path starts at the folder of this file. Default: none.',
      examples: [{ shop: 'shop', api: '/srv/api' }],
    }),
  volumes: z
    .array(z.union([z.enum(declarableVolumes), volumeLabel]))
    .max(20)
    .optional()
    .meta({
      description:
        'Volumes of yours, by type or name. `carrel up` creates those that are missing and removes none. Default: none.',
      examples: [['memory-bank', 'cache']],
    }),
  secrets: z
    .array(secretName)
    .max(1000)
    .optional()
    .meta({
      description:
        'Names of secrets that have to be set (`carrel secret set NAME`). Never their values. Default: none.',
      examples: [['NPM_TOKEN']],
    }),
  rooms,
  sandboxes: z
    .record(sandboxName, sandbox.nullable())
    .refine(isShort, `at most ${maxEntries}`)
    .optional()
    .describe('Sandboxes by name.'),
});

export type FleetContent = z.output<typeof fleetSchema>;
export type SandboxContent = NonNullable<NonNullable<FleetContent['sandboxes']>[string]>;
export type LimitsContent = z.output<typeof limits>;

/** The JSON Schema for editors. */
export function jsonSchema(): object {
  const { $schema, ...rest } = z.toJSONSchema(fleetSchema, { io: 'input', target: 'draft-7' });
  const description = 'A fleet of sandboxes, for `carrel up` and `carrel compose`.';
  return { $schema, title: 'carrel.yaml', description, ...rest };
}

/** The fields that are allowed at a path; null: the keys there are names. */
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
