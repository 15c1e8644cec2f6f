/**
 * The request to create a container, from plain data. Pure. Its input has no field for anything that would weaken a
 * sandbox: privileges, namespaces of the host, devices, the engine's socket.
 */
import type { ContainerCreateOptions } from 'dockerode';
import type { Launch, LogLimits } from '../../engine.ts';
import { maskedPaths } from '../../local/runtime/spec.ts';
import type { EngineFacts } from '../connection/facts.ts';
import type { DockerIdentity } from '../mounts/identity.ts';
import type { DockerMounts } from '../mounts/mounts.ts';
import { sysbox } from './sysbox.ts';

export interface DockerSpecInput extends DockerMounts {
  readonly name: string;
  readonly launch: Launch;
  readonly image: string;
  readonly runtime: string;
  readonly identity: DockerIdentity;
  readonly facts: Pick<EngineFacts, 'enforced' | 'logDriver'>;
  readonly labels: Readonly<Record<string, string>>;
  /** The seccomp filter. */
  readonly filter: string;
  readonly log: LogLimits;
}

const cpuPeriodMicros = 100_000;
const shmBytes = 512 * 1024 ** 2;

export function containerSpec(input: DockerSpecInput): ContainerCreateOptions {
  const { launch, identity } = input;
  return {
    name: input.name,
    Image: input.image,
    Labels: { ...input.labels },
    Hostname: launch.hostname.slice(0, 63),
    User: `${identity.inside.uid}:${identity.inside.gid}`,
    // Set as entry point, so that the image's own entry point is not used.
    Entrypoint: launch.command.length === 0 ? ['sleep', 'infinity'] : [...launch.command],
    Cmd: [],
    Env: environment(launch.env),
    WorkingDir: launch.cwd,
    Healthcheck: { Test: ['NONE'] },
    Tty: launch.terminal !== null,
    OpenStdin: launch.stdin || launch.terminal !== null,
    // If a client is attached from the start, the end of its input is the end of the command's input. A terminal has no
    // end of input.
    StdinOnce: launch.console && launch.terminal === null,
    NetworkDisabled: true,
    HostConfig: hostConfig(input),
  };
}

export function environment(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).map(([key, value]) => `${key}=${value}`);
}

function hostConfig(input: DockerSpecInput): NonNullable<ContainerCreateOptions['HostConfig']> {
  const { facts, launch } = input;
  return {
    Runtime: input.runtime,
    Init: true,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges:true', ...filterFor(input)],
    MaskedPaths: [...maskedPaths, ...maskedSystem],
    ReadonlyPaths: readonlyPaths,
    ReadonlyRootfs: true,
    NetworkMode: 'none',
    IpcMode: 'private',
    CgroupnsMode: 'private',
    ShmSize: Math.min(shmBytes, launch.limits.memoryBytes),
    OomScoreAdj: 500,
    Ulimits: [{ Name: 'core', Soft: 0, Hard: 0 }],
    RestartPolicy: { Name: 'no' },
    LogConfig: { Type: facts.logDriver, Config: logOptions(facts.logDriver, input.log) },
    Mounts: [...input.mounts],
    Tmpfs: { ...input.tmpfs },
    ...(launch.terminal && { ConsoleSize: [launch.terminal.rows, launch.terminal.columns] }),
    ...resources(input),
  } as NonNullable<ContainerCreateOptions['HostConfig']>;
}

/** The filter is narrower than the engine's default; sysbox-runc derives its own filter from the default. */
function filterFor({ runtime, filter }: DockerSpecInput): string[] {
  return runtime === sysbox ? [] : [`seccomp=${filter}`];
}

/** The engine mounts all of /sys, read-only. */
const maskedSystem = [
  '/sys/class',
  '/sys/dev/block',
  '/sys/devices/virtual/powercap',
  '/sys/firmware',
  '/sys/fs',
  '/sys/kernel',
];
const readonlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

function logOptions(driver: EngineFacts['logDriver'], { maxBytes, files }: LogLimits): Record<string, string> {
  const limits = { 'max-size': String(maxBytes), 'max-file': String(files) };
  return driver === 'local' ? { ...limits, compress: 'false' } : limits;
}

function resources({ facts: { enforced }, launch: { limits } }: DockerSpecInput): object {
  const has = (key: keyof typeof limits) => enforced.includes(key);
  return {
    ...(has('cpus') ? { CpuPeriod: cpuPeriodMicros, CpuQuota: Math.round(limits.cpus * cpuPeriodMicros) } : {}),
    ...(has('memoryBytes') ? { Memory: limits.memoryBytes } : {}),
    ...(has('memoryBytes') && has('swapBytes') ? { MemorySwap: limits.swapBytes } : {}),
    ...(has('pids') ? { PidsLimit: limits.pids } : {}),
  };
}
