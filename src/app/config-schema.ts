/**
 * The keys of HOME/config.yaml. Unknown ones are refused with their path. `docs/config.md` is made from this file: each key has a
 * description, an example and, where it has one, a default (`npm run docs`).
 */
import { z } from 'zod';
import { defaultLog } from '../engine/engine.ts';
import { defaultLimits } from '../model/limits.ts';
import { defaultNetworkLimits, maxRules } from '../model/network.ts';
import { runtimeNames } from '../model/sandbox.ts';
import { identityKinds, serviceNamePattern, servicePorts } from '../model/service.ts';
import { formatSize } from '../model/size.ts';
import { defaultVolumePrefix } from '../model/volume.ts';
import { defaultMaxEvents } from '../store/store.ts';

const size = z.union([z.string(), z.int().positive()]);
const path = z.string().startsWith('/').max(4096);
const seconds = z.int().min(1).max(604_800);

/** The default is not applied by the schema: the code that reads the value resolves it. */
const sizeKey = (description: string, bytes: number | null, example: string) =>
  size.meta({
    title: 'size',
    description,
    ...(bytes === null ? {} : { default: formatSize(bytes).replace('.0', '').toLowerCase() }),
    examples: [example],
  });

const limits = z
  .strictObject({
    cpus: z.number().meta({ description: 'Processors.', default: defaultLimits.cpus, examples: [1.5] }),
    memory: sizeKey('Memory.', defaultLimits.memoryBytes, '2g'),
    swap: sizeKey('Memory and swap together.', defaultLimits.swapBytes, '4g'),
    pids: z.int().meta({ description: 'Processes and threads.', default: defaultLimits.pids, examples: [256] }),
    disk: sizeKey('Disk space.', defaultLimits.diskBytes, '20g'),
  })
  .partial()
  .describe('What a sandbox may use where neither the command nor a `carrel.yaml` names a limit.');

const rotation = z
  .strictObject({
    size: sizeKey('The size at which a file is rotated: 64k to 1t.', defaultLog.maxBytes, '50m'),
    files: z
      .int()
      .min(1)
      .max(100)
      .meta({ description: 'How many files are kept.', default: defaultLog.files, examples: [10] }),
  })
  .partial();

const disk = z
  .strictObject({
    keepFree: z.union([z.string(), z.int().min(0)]).meta({
      title: 'size',
      description:
        'Space that stays free on the disk of the home. When less is free, the daemon stops the sandbox that grew most. `0` turns this off. Default: a fiftieth of the disk, at least 64m, at most 512m.',
      examples: ['2g'],
    }),
  })
  .describe('Protection against a full disk.');

const docker = z
  .strictObject({
    socket: path.meta({
      description:
        'The socket of the Docker Engine or of Podman. Default: the one that `DOCKER_HOST` names, else the first that exists.',
      examples: ['/run/podman/podman.sock'],
    }),
    parent: z
      .string()
      .min(1)
      .max(512)
      .meta({
        description:
          'The image that the base of all built images is built on. `host` takes the packages of this Debian machine and needs no registry.',
        default: 'debian:trixie-slim',
        examples: ['host'],
      }),
  })
  .partial()
  .describe('The Docker Engine.');

const networkLimits = z
  .strictObject({
    connections: z
      .int()
      .min(1)
      .max(10_000)
      .meta({
        description: 'Open connections of one sandbox; more of them wait.',
        default: defaultNetworkLimits.connections,
        examples: [100],
      }),
    rate: sizeKey('Bytes per second, both directions together. Default: no limit.', null, '10m'),
    total: sizeKey('Bytes over the life of a sandbox, both directions together. Default: no limit.', null, '20g'),
    connectSeconds: z
      .number()
      .min(0.1)
      .max(300)
      .meta({
        description: 'Time-out of a request, a name lookup and a handshake, each.',
        default: defaultNetworkLimits.connectMs / 1000,
        examples: [5],
      }),
    idleSeconds: z
      .number()
      .min(1)
      .max(86_400)
      .meta({
        description: 'Time-out of a connection that carries no byte.',
        default: defaultNetworkLimits.idleMs / 1000,
        examples: [300],
      }),
  })
  .partial()
  .describe('Limits on the connections of each sandbox.');

const network = z
  .strictObject({
    allow: z
      .array(z.string().max(300))
      .max(maxRules)
      .meta({
        description: 'Rules for sandboxes for which neither the command nor the project names any.',
        default: [],
        examples: [['registry.npmjs.org', '*.githubusercontent.com']],
      }),
    limits: networkLimits,
  })
  .partial()
  .describe('What sandboxes may reach.');

const services = z
  .record(
    z.string().regex(serviceNamePattern),
    z.strictObject({
      port: z
        .int()
        .min(servicePorts.first)
        .max(servicePorts.last)
        .meta({ description: 'The port of the sandbox’s loopback at which the service is.', examples: [17010] }),
      to: z
        .string()
        .min(1)
        .max(300)
        .meta({
          description: 'Where the service listens: the path of a unix socket, or `127.0.0.1:PORT`.',
          examples: ['/run/notes.sock'],
        }),
      identity: z
        .enum(identityKinds)
        .default('headers')
        .meta({
          description:
            'How the service learns which sandbox calls: `headers` adds `x-carrel-caller` to each HTTP request, `line` sends one line of JSON at the start of each connection.',
          examples: ['headers'],
        }),
    }),
  )
  .describe('Services of yours that sandboxes can call, by name (`--service NAME`).');

const agents = z.record(z.string().regex(/^[a-z][a-z0-9-]{0,31}$/), z.unknown()).meta({
  description:
    'Agents by name (`--agent NAME`), besides `claude`, `codex`, `gemini` and `opencode`. `kind: command` gets the story as JSON on stdin and succeeds with exit code 0; `kind: acp` is a program that speaks the Agent Client Protocol. Default: none.',
  examples: [{ mine: { kind: 'command', command: ['my-agent'] } }],
});

const swarm = z
  .strictObject({
    storySeconds: seconds.default(3600).meta({ description: 'Time-out of one story.', examples: [1800] }),
    stallSeconds: seconds
      .default(900)
      .meta({ description: 'Time-out of a story whose agent prints nothing.', examples: [600] }),
    taskSeconds: seconds.default(14_400).meta({ description: 'Time-out of a whole task file.', examples: [28_800] }),
    silenceSeconds: seconds.default(300).meta({
      description: 'Time-out of an adapter that sends nothing; it sends something every ten seconds during a story.',
      examples: [120],
    }),
    image: z
      .string()
      .min(1)
      .max(512)
      .nullable()
      .default(null)
      .meta({
        description: 'The image of sandboxes on a Docker Engine, where neither the command nor the project names one.',
        examples: ['carrel-sandbox:base'],
      }),
  })
  .prefault({})
  .describe('Swarms.');

export const configSchema = z.strictObject({
  runtime: z
    .enum(runtimeNames)
    .optional()
    .meta({ description: 'The OCI runtime. Default: the first that is installed.', examples: ['crun'] }),
  limits: limits.optional(),
  disk: disk.optional(),
  network: network.optional(),
  services: services.optional(),
  authorities: z
    .array(path)
    .max(100)
    .optional()
    .meta({
      description:
        'Files with certificates in PEM that are trusted for the hosts of credentials, besides the well-known authorities.',
      default: [],
      examples: [['/etc/ssl/company-ca.pem']],
    }),
  agents: agents.optional(),
  swarm,
  docker: docker.optional(),
  images: z
    .array(z.string().min(1).max(512))
    .max(1000)
    .optional()
    .meta({
      description: 'Images that `--image` accepts: `NAME`, or `NAME@sha256:…` for that content alone.',
      default: [],
      examples: [['debian:12', 'node:22']],
    }),
  volumes: z
    .strictObject({
      prefix: z.string().meta({
        description: 'The first part of the names of volumes.',
        default: defaultVolumePrefix,
        examples: ['lab'],
      }),
    })
    .optional()
    .describe('Volumes.'),
  share: z
    .strictObject({
      socket: path.meta({
        description: 'A socket for users with a token. Default: none.',
        examples: ['/run/carrel/shared.sock'],
      }),
    })
    .optional()
    .describe('Access for other users of the machine (`carrel user add`).'),
  logs: rotation.optional().describe('The output of each sandbox.'),
  audit: rotation.optional().describe('The audit log.'),
  events: z
    .strictObject({
      keep: z
        .int()
        .min(1000)
        .max(10_000_000)
        .meta({
          description: 'How many events are kept.',
          default: defaultMaxEvents,
          examples: [20_000],
        }),
    })
    .optional()
    .describe('Events.'),
});

export type ConfigContent = z.output<typeof configSchema>;
export type RotationContent = z.output<typeof rotation>;
