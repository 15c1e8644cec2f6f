/**
 * Creates a container with Podman. Behind the Docker API Podman silently ignores masked paths, cgroup namespaces,
 * runtimes and options of volumes, and adds world-writable folders. So its own API is used, which accepts all of that.
 */
import type { ContainerCreateOptions, HostConfig } from 'dockerode';
import { Fault } from '../../../../model/fault.ts';
import type { LogLimits } from '../../engine.ts';
import { type Connection, statusOf } from '../connection/connection.ts';

export interface PodmanInput {
  /** The path of the seccomp filter. */
  readonly filterPath: string;
  readonly logPath: string;
  readonly log: LogLimits;
}

type Host = HostConfig & { readonly MaskedPaths: readonly string[] };

export async function createWithPodman(
  connection: Connection,
  options: ContainerCreateOptions,
  input: PodmanInput,
): Promise<string> {
  const made = await connection.send('/v4.0.0/libpod/containers/create', podmanSpec(options, input));
  return (made as { readonly Id: string }).Id;
}

/** Creates the namespaces and mounts of the container without starting its command. */
export async function prepareWithPodman(connection: Connection, container: string): Promise<void> {
  try {
    await connection.send(`/v4.0.0/libpod/containers/${container}/init`, {});
  } catch (error) {
    // An attached console has initialised the container already.
    if (statusOf(error) !== 304) throw error;
  }
}

/** The request for a Docker Engine, translated for Podman. Pure. */
export function podmanSpec(options: ContainerCreateOptions, input: PodmanInput): object {
  const host = options.HostConfig as Host;
  return {
    name: options.name,
    image: options.Image,
    labels: options.Labels,
    hostname: options.Hostname,
    user: options.User,
    entrypoint: options.Entrypoint,
    env: Object.fromEntries((options.Env ?? []).map(pair)),
    work_dir: options.WorkingDir,
    stdin: options.OpenStdin,
    terminal: options.Tty,
    healthconfig: options.Healthcheck,
    init: host.Init,
    // Otherwise Podman would add mounts for commands named `init` and `systemd`.
    systemd: 'false',
    sdnotifyMode: 'ignore',
    image_volume_mode: 'ignore',
    oci_runtime: host.Runtime,
    restart_policy: 'no',
    // Podman removes the container without waiting.
    stop_timeout: 0,
    cap_drop: host.CapDrop,
    no_new_privileges: true,
    seccomp_profile_path: input.filterPath,
    mask: host.MaskedPaths,
    read_only_filesystem: host.ReadonlyRootfs,
    ...namespaces,
    shm_size: host.ShmSize,
    oom_score_adj: host.OomScoreAdj,
    r_limits: [...(host.Ulimits as Ulimit[]), ...ownLimits].map(rlimit),
    log_configuration: { driver: 'k8s-file', path: input.logPath, size: input.log.maxBytes },
    mounts: [...(host.Mounts ?? []).map(bind), ...Object.entries(host.Tmpfs ?? {}).map(tmpfs)],
    resource_limits: resources(host),
  };
}

const own = { nsmode: 'private' };
const namespaces = {
  ...{ pidns: own, ipcns: own, utsns: own, cgroupns: own },
  netns: { nsmode: 'none' },
  // Without a user namespace, the id of agent is the same on the host.
  userns: { nsmode: 'host' },
};

function pair(text: string): [string, string] {
  const at = text.indexOf('=');
  return [text.slice(0, at), text.slice(at + 1)];
}

interface Ulimit {
  readonly Name: string;
  readonly Soft: number;
  readonly Hard: number;
}

/**
 * By default Podman sets these limits to the maximum, which needs privileges. A sandbox has its own limit for
 * processes.
 */
const ownLimits: Ulimit[] = [
  { Name: 'nofile', Soft: 16_384, Hard: 16_384 },
  { Name: 'nproc', Soft: 32_768, Hard: 32_768 },
];

function rlimit({ Name, Soft, Hard }: Ulimit): object {
  return { type: Name, soft: Soft, hard: Hard };
}

function bind({ Type, Source, Target, ReadOnly }: NonNullable<HostConfig['Mounts']>[number]): object {
  if (Type !== 'bind') throw new Fault('internal', `Podman is to mount ${Source} as a ${Type}`);
  const options = ['rbind', 'rprivate', 'nosuid', 'nodev', ReadOnly ? 'ro' : 'rw'];
  return { type: 'bind', source: Source, destination: Target, options };
}

function tmpfs([destination, options]: [string, string]): object {
  return { type: 'tmpfs', source: 'tmpfs', destination, options: [...options.split(','), 'notmpcopyup'] };
}

function resources({ CpuPeriod, CpuQuota, Memory, MemorySwap, PidsLimit }: Host): object {
  return {
    ...(CpuQuota ? { cpu: { period: CpuPeriod, quota: CpuQuota } } : {}),
    ...(Memory ? { memory: { limit: Memory, ...(MemorySwap ? { swap: MemorySwap } : {}) } } : {}),
    ...(PidsLimit ? { pids: { limit: PidsLimit } } : {}),
  };
}

/** Without id-mapped mounts Podman would keep working copies in volumes, and change their owner and mode. */
export function needsRoot(): Fault {
  return new Fault('unsupported', 'Podman can be used only by a daemon that is root and runs beside it', {
    hint: 'Run Carrel as root, not in a container; or use the embedded engine: --engine local.',
  });
}
