/** The OCI runtime specification of a sandbox, from plain data. Pure. */

import type { TerminalSize } from '../../../../model/engine.ts';
import type { Limits } from '../../../../model/limits.ts';
import type { Launch } from '../../engine.ts';
import { agentId, type LocalIdentity } from '../ids.ts';
import { seccompProfile } from './seccomp.ts';

export interface SpecMount {
  readonly destination: string;
  readonly type: string;
  readonly source: string;
  readonly options: readonly string[];
}

export interface LocalSpecInput {
  readonly launch: Launch;
  readonly identity: LocalIdentity;
  readonly rootPath: string;
  readonly mounts: readonly SpecMount[];
  /** Null: the daemon has no control group. */
  readonly cgroupsPath: string | null;
  readonly byGroup: readonly (keyof Limits)[];
  readonly arch: NodeJS.Architecture;
  /** Annotations that only some runtimes understand. */
  readonly annotations: Readonly<Record<string, string>>;
}

export const initPath = '/opt/carrel/init';

const namespaces = ['user', 'pid', 'mount', 'ipc', 'uts', 'network', 'cgroup'] as const;

export const maskedPaths = [
  '/proc/acpi',
  '/proc/asound',
  '/proc/interrupts',
  '/proc/kallsyms',
  '/proc/kcore',
  '/proc/keys',
  '/proc/key-users',
  '/proc/kmsg',
  '/proc/latency_stats',
  '/proc/modules',
  '/proc/sched_debug',
  '/proc/scsi',
  '/proc/timer_list',
  '/proc/timer_stats',
];

/**
 * A user namespace cannot make devices, so these are the host's nodes: processes inside can use but not change them.
 */
const devices = ['/dev/full', '/dev/null', '/dev/random', '/dev/tty', '/dev/urandom', '/dev/zero'];

const readonlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger', ...devices];

const processorsPath = '/sys/devices/system/cpu';

const kernelMounts: readonly SpecMount[] = [
  { destination: '/proc', type: 'proc', source: 'proc', options: ['nosuid', 'noexec', 'nodev'] },
  {
    destination: '/dev',
    type: 'tmpfs',
    source: 'tmpfs',
    options: ['nosuid', 'noexec', 'strictatime', 'mode=755', 'size=64k'],
  },
  {
    destination: '/dev/pts',
    type: 'devpts',
    source: 'devpts',
    options: ['nosuid', 'noexec', 'newinstance', 'ptmxmode=0666', 'mode=0620'],
  },
  {
    destination: '/dev/shm',
    type: 'tmpfs',
    source: 'shm',
    options: ['nosuid', 'noexec', 'nodev', 'mode=1777', 'size=512m'],
  },
  // Programs count processors by this folder. The rest of /sys is absent: a runtime that may not mount a fresh sysfs
  // would bind the host's, with all its control groups.
  {
    destination: processorsPath,
    type: 'bind',
    source: processorsPath,
    options: ['bind', 'ro', 'nosuid', 'noexec', 'nodev', 'private'],
  },
];

export function runtimeSpec(input: LocalSpecInput): object {
  const { launch, identity } = input;
  const mappings = identity.mappings.map((map) => ({ containerID: map.inside, hostID: map.outside, size: map.size }));
  return {
    ociVersion: '1.0.2',
    process: processSpec({
      args: initArgs(launch.command),
      env: launch.env,
      cwd: launch.cwd,
      terminal: launch.terminal,
      maxProcesses: maxProcesses(launch.limits, input.byGroup),
    }),
    root: { path: input.rootPath, readonly: true },
    hostname: launch.hostname,
    mounts: [...kernelMounts, ...input.mounts],
    annotations: input.annotations,
    linux: {
      namespaces: namespaces.map((type) => ({ type })),
      uidMappings: mappings,
      gidMappings: mappings,
      ...(input.cgroupsPath === null ? {} : controlGroup(input.cgroupsPath, input)),
      seccomp: seccompProfile(input.arch),
      maskedPaths,
      readonlyPaths,
    },
  };
}

export interface ProcessInput {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly terminal: TerminalSize | null;
  readonly maxProcesses: number | null;
}

/** When memory runs out, the kernel kills processes inside before processes outside, the largest first. */
export const oomScoreAdj = 500;

/**
 * A process inside, which is the sandbox's command or an exec: it runs as agent, without privileges and without a way
 * to gain any.
 */
export function processSpec(input: ProcessInput): object {
  return {
    terminal: input.terminal !== null,
    ...(input.terminal && { consoleSize: { height: input.terminal.rows, width: input.terminal.columns } }),
    user: { uid: agentId, gid: agentId, additionalGids: [], umask: 0o022 },
    args: input.args,
    env: Object.entries(input.env).map(([key, value]) => `${key}=${value}`),
    cwd: input.cwd,
    capabilities: { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] },
    noNewPrivileges: true,
    oomScoreAdj,
    rlimits: [
      rlimit('RLIMIT_CORE', 0),
      ...(input.maxProcesses === null ? [] : [rlimit('RLIMIT_NPROC', input.maxProcesses)]),
    ],
  };
}

function rlimit(type: string, value: number): object {
  return { type, soft: value, hard: value };
}

/** Without a control group, the kernel counts the processes of agent in this user namespace. */
export function maxProcesses(limits: Limits, byGroup: readonly (keyof Limits)[]): number | null {
  return byGroup.includes('pids') ? null : limits.pids;
}

function initArgs(command: readonly string[]): string[] {
  return [initPath, '--', ...(command.length === 0 ? ['sleep', 'infinity'] : command)];
}

function controlGroup(cgroupsPath: string, { launch, byGroup }: LocalSpecInput): object {
  return { cgroupsPath, resources: resources(launch.limits, byGroup) };
}

const cpuPeriodMicros = 100_000;

function resources(limits: Limits, byGroup: readonly (keyof Limits)[]): object {
  const has = (key: keyof Limits) => byGroup.includes(key);
  return {
    ...(has('memoryBytes')
      ? { memory: { limit: limits.memoryBytes, ...(has('swapBytes') ? { swap: limits.swapBytes } : {}) } }
      : {}),
    ...(has('cpus') ? { cpu: { quota: Math.round(limits.cpus * cpuPeriodMicros), period: cpuPeriodMicros } } : {}),
    ...(has('pids') ? { pids: { limit: limits.pids } } : {}),
  };
}
