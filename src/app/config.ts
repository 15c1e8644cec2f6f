/** The owner's settings: HOME/config.yaml. All optional; unknown ones are refused with their path. */

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { defaultLog, type LogLimits } from '../engine/engine.ts';
import { readIfThere } from '../lib/file.ts';
import { addressClass } from '../model/address.ts';
import { type AgentSpec, agentSpec } from '../model/agent.ts';
import { Fault } from '../model/fault.ts';
import { parseEndpoint } from '../model/host.ts';
import { defaultLimits, type Limits, resolveLimits } from '../model/limits.ts';
import { printable } from '../model/name.ts';
import { defaultNetworkLimits, type NetworkLimits, usableRule } from '../model/network.ts';
import type { DeclaredService } from '../model/service.ts';
import { Misfit } from '../model/shape.ts';
import { formatSize, parseSize } from '../model/size.ts';
import { checkVolumePrefix, defaultVolumePrefix } from '../model/volume.ts';
import { defaultMaxEvents } from '../store/store.ts';
import { type ConfigContent, configSchema, type RotationContent } from './config-schema.ts';
import { type CheckedYaml, openYaml } from './yaml-file.ts';

/** What the kernel takes. */
const maxSocketPath = 107;

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

/** Whatever is wrong is refused with the file and the line. */
export function readConfig(path: string): Config {
  const { content: given, at } = openYaml(path, readIfThere(path) ?? '', configSchema);
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

function limitsOf(given: ConfigContent['limits'], at: At): Limits {
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

function networkOf(given: ConfigContent['network'], at: At): Config['network'] {
  const allow = given?.allow ?? [];
  return {
    allow: allow.map((rule, index) => at(`network.allow.${index}`, () => usableRule(rule, allow))),
    limits: at('network.limits', () => networkLimitsOf(given?.limits)),
  };
}

function networkLimitsOf(given: NonNullable<ConfigContent['network']>['limits']): NetworkLimits {
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

function rotationOf(given: RotationContent = {}, what: string): LogLimits {
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
