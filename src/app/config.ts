/** The owner's settings: HOME/config.yaml. All optional; unknown ones are refused with their path. */

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { defaultLog, type LogLimits } from '../engine/engine.ts';
import { readIfThere } from '../lib/file.ts';
import { addressClass } from '../model/address.ts';
import { type AgentSpec, agentSpec } from '../model/agent.ts';
import { Fault } from '../model/fault.ts';
import { parseEndpoint } from '../model/host.ts';
import { defaultLimits, type Limits, resolveLimits } from '../model/limits.ts';
import { printable } from '../model/name.ts';
import { defaultNetworkLimits, maxRules, type NetworkLimits, usableRule } from '../model/network.ts';
import { runtimeNames } from '../model/sandbox.ts';
import { type DeclaredService, identityKinds, serviceNamePattern, servicePorts } from '../model/service.ts';
import { Misfit } from '../model/shape.ts';
import { formatSize, parseSize } from '../model/size.ts';
import { checkVolumePrefix, defaultVolumePrefix } from '../model/volume.ts';
import { defaultMaxEvents } from '../store/store.ts';
import { type CheckedYaml, openYaml } from './yaml-file.ts';

const size = z.union([z.string(), z.int().positive()]);

/** What the kernel takes. */
const maxSocketPath = 107;

const seconds = z.int().min(1).max(604_800);
const rotation = z.strictObject({ size, files: z.int().min(1).max(100) }).partial();

const schema = z.strictObject({
  runtime: z.enum(runtimeNames).optional(),
  limits: z
    .strictObject({ cpus: z.number(), memory: size, swap: size, pids: z.int(), disk: size })
    .partial()
    .optional(),
  /** How much of the disk of the home stays free: a sandbox that takes more is stopped. 0 turns that off. */
  disk: z.strictObject({ keepFree: z.union([z.string(), z.int().min(0)]) }).optional(),
  /** What is kept of the output of each sandbox. */
  logs: rotation.optional(),
  audit: rotation.optional(),
  events: z.strictObject({ keep: z.int().min(1000).max(10_000_000) }).optional(),
  docker: z
    .strictObject({
      socket: z.string().startsWith('/').max(4096),
      /** What the base of all images is built on. */
      parent: z.string().min(1).max(512),
    })
    .partial()
    .optional(),
  /** Images that sandboxes may be made of: `NAME`, or `NAME@sha256:…` for that content alone. */
  images: z.array(z.string().min(1).max(512)).max(1000).optional(),
  /** Files in PEM: who is trusted to vouch for the services of credentials, besides those everybody trusts. */
  authorities: z.array(z.string().startsWith('/').max(4096)).max(100).optional(),
  network: z
    .strictObject({
      /** What sandboxes may reach for which nobody says anything else. */
      allow: z.array(z.string().max(300)).max(maxRules),
      limits: z
        .strictObject({
          connections: z.int().min(1).max(10_000),
          /** Bytes a second, both ways together. */
          rate: size,
          /** Over the life of a sandbox, both ways together. */
          total: size,
          connectSeconds: z.number().min(0.1).max(300),
          idleSeconds: z.number().min(1).max(86_400),
        })
        .partial(),
    })
    .partial()
    .optional(),
  /** Services that sandboxes can be granted, by name. */
  services: z
    .record(
      z.string().regex(serviceNamePattern),
      z.strictObject({
        port: z.int().min(servicePorts.first).max(servicePorts.last),
        to: z.string().min(1).max(300),
        identity: z.enum(identityKinds).default('headers'),
      }),
    )
    .optional(),
  /** Agents by name, besides those that are known. */
  agents: z.record(z.string().regex(/^[a-z][a-z0-9-]{0,31}$/), z.unknown()).optional(),
  /** How long a story, silence about it, and a whole task file may take. */
  swarm: z
    .strictObject({
      storySeconds: seconds.default(3600),
      stallSeconds: seconds.default(900),
      taskSeconds: seconds.default(14_400),
      /** Without a word of the adapter, which speaks every ten seconds while a story is worked on. */
      silenceSeconds: seconds.default(300),
      /** What sandboxes on a Docker Engine are made of, where neither the command nor the project says so. */
      image: z.string().min(1).max(512).nullable().default(null),
    })
    .prefault({}),
  /** What names of volumes begin with. */
  volumes: z.strictObject({ prefix: z.string() }).optional(),
  /** Where users with a token come in. */
  share: z.strictObject({ socket: z.string().startsWith('/').max(4096) }).optional(),
});

export interface Config {
  readonly runtime: string | null;
  readonly limits: Limits;
  /** Null: decided by the size of the disk. */
  readonly keepFreeBytes: number | null;
  readonly log: LogLimits;
  readonly audit: LogLimits;
  readonly maxEvents: number;
  readonly sharedSocket: string | null;
  readonly volumePrefix: string;
  readonly dockerSocket: string | null;
  readonly parentImage: string | null;
  readonly images: readonly string[];
  /** In PEM. */
  readonly authorities: readonly string[];
  readonly services: readonly DeclaredService[];
  readonly agents: Readonly<Record<string, AgentSpec>>;
  readonly swarm: {
    readonly storySeconds: number;
    readonly stallSeconds: number;
    readonly taskSeconds: number;
    readonly silenceSeconds: number;
    readonly image: string | null;
  };
  readonly network: { readonly allow: readonly string[]; readonly limits: NetworkLimits };
}

type Given = z.output<typeof schema>;

/** Whatever is wrong is refused with the file and the line. */
export function readConfig(path: string): Config {
  const { content: given, at } = openYaml(path, readIfThere(path) ?? '', schema);
  return {
    runtime: given.runtime ?? null,
    limits: limitsOf(given.limits, at),
    keepFreeBytes: at('disk.keepFree', () => (given.disk ? bytes(given.disk.keepFree, 'disk.keepFree') : null)),
    log: at('logs.size', () => rotationOf(given.logs, 'logs')),
    audit: at('audit.size', () => rotationOf(given.audit, 'audit')),
    maxEvents: given.events?.keep ?? defaultMaxEvents,
    sharedSocket: given.share?.socket ?? null,
    volumePrefix: at('volumes.prefix', () => checkVolumePrefix(given.volumes?.prefix ?? defaultVolumePrefix)),
    dockerSocket: given.docker?.socket ?? null,
    parentImage: given.docker?.parent ?? null,
    images: given.images ?? [],
    authorities: at('authorities', () => (given.authorities ?? []).map(readAuthority)),
    services: servicesOf(given.services ?? {}, at),
    agents: agentsOf(given.agents ?? {}, at),
    swarm: given.swarm,
    network: networkOf(given.network, at),
  };
}

type At = CheckedYaml<unknown>['at'];

function limitsOf(given: Given['limits'], at: At): Limits {
  const { cpus, memory, swap, pids, disk } = given ?? {};
  const size = (value: string | number, name: string) => at(`limits.${name}`, () => bytes(value, `limits.${name}`));
  const limits = {
    ...(cpus === undefined ? {} : { cpus }),
    ...(memory === undefined ? {} : { memoryBytes: size(memory, 'memory') }),
    ...(swap === undefined ? {} : { swapBytes: size(swap, 'swap') }),
    ...(pids === undefined ? {} : { pids }),
    ...(disk === undefined ? {} : { diskBytes: size(disk, 'disk') }),
  };
  return at('limits', () => resolveLimits(limits, defaultLimits));
}

function agentsOf(given: Readonly<Record<string, unknown>>, at: At): Config['agents'] {
  const spec = (name: string, content: unknown) => at(`agents.${name}`, () => knownAgent(name, content));
  return Object.fromEntries(Object.entries(given).map(([name, content]) => [name, spec(name, content)]));
}

function knownAgent(name: string, content: unknown): AgentSpec {
  try {
    return agentSpec(content, ['agents', name]);
  } catch (error) {
    if (!(error instanceof Misfit)) throw error;
    throw new Fault('invalid', error.message, { cause: error });
  }
}

function servicesOf(
  given: Readonly<Record<string, Omit<DeclaredService, 'name'>>>,
  at: At,
): readonly DeclaredService[] {
  const services = Object.entries(given).map(([name, service]) => ({ name, ...service }));
  for (const service of services) at(`services.${service.name}`, () => checkService(service, services));
  return services;
}

function checkService({ name, port, to }: DeclaredService, services: readonly DeclaredService[]): void {
  const wrong = (what: string, hint: string) => new Fault('invalid', `services.${name}.${what}`, { hint });
  const other = services.find((one) => one.name !== name && one.port === port);
  if (other) throw wrong(`port: ${other.name} has port ${port} already`, 'Name another one.');
  if (!isNear(to))
    throw wrong(`to: ${printable(to)} is no such place`, 'The path of a unix socket, or 127.0.0.1:PORT.');
}

/** On this machine, where nobody listens to what is said about callers. */
function isNear(to: string): boolean {
  if (to.startsWith('/')) return Buffer.byteLength(to) <= maxSocketPath && !to.includes('\0');
  try {
    const { host } = parseEndpoint(to, 0);
    return (
      host.kind === 'address' && addressClass(host.text, host.family) === 'loopback' && parseEndpoint(to, 0).port > 0
    );
  } catch {
    return false;
  }
}

function readAuthority(file: string): string {
  try {
    const text = readFileSync(file, 'utf8');
    new X509Certificate(text);
    return text;
  } catch (error) {
    throw new Fault('invalid', `authorities: ${file} has no certificate: ${(error as Error).message}`, {
      hint: 'Name a file with certificates in PEM.',
      cause: error,
    });
  }
}

function networkOf(given: Given['network'], at: At): Config['network'] {
  const allow = given?.allow ?? [];
  return {
    allow: allow.map((rule, index) => at(`network.allow.${index}`, () => usableRule(rule, allow))),
    limits: at('network.limits', () => networkLimitsOf(given?.limits)),
  };
}

function networkLimitsOf(given: NonNullable<Given['network']>['limits']): NetworkLimits {
  const { connections, rate, total, connectSeconds, idleSeconds } = given ?? {};
  return {
    connections: connections ?? defaultNetworkLimits.connections,
    bytesPerSecond: rate === undefined ? defaultNetworkLimits.bytesPerSecond : bytes(rate, 'network.limits.rate'),
    totalBytes: total === undefined ? defaultNetworkLimits.totalBytes : bytes(total, 'network.limits.total'),
    connectMs: connectSeconds === undefined ? defaultNetworkLimits.connectMs : connectSeconds * 1000,
    idleMs: idleSeconds === undefined ? defaultNetworkLimits.idleMs : idleSeconds * 1000,
  };
}

/** Room for a few lines at least, and no more than a disk has. */
const fileBytes = { least: 64 * 1024, most: 1024 ** 4 };

function rotationOf(given: z.output<typeof rotation> = {}, what: string): LogLimits {
  const maxBytes = bytes(given.size ?? defaultLog.maxBytes, `${what}.size`);
  if (maxBytes >= fileBytes.least && maxBytes <= fileBytes.most) {
    return { maxBytes, files: given.files ?? defaultLog.files };
  }
  throw new Fault('invalid', `${what}.size: ${formatSize(maxBytes)} is out of range`, {
    hint: `Between ${formatSize(fileBytes.least)} and ${formatSize(fileBytes.most)}.`,
  });
}

function bytes(value: string | number, what: string): number {
  return typeof value === 'number' ? value : parseSize(value, what);
}
