/** What a Docker Engine reports about itself, as far as it is needed here. */
import type { Limits } from '../../../../model/limits.ts';
import type { Connection } from './connection.ts';

/** The fields that are read of the engine's answer to `info`. Podman leaves some out. */
export interface EngineInfo {
  readonly ServerVersion?: string;
  readonly SecurityOptions?: readonly string[] | null;
  readonly DockerRootDir?: string;
  readonly Runtimes?: Readonly<Record<string, unknown>> | null;
  readonly DefaultRuntime?: string;
  readonly MemoryLimit?: boolean;
  readonly SwapLimit?: boolean;
  readonly CpuCfsQuota?: boolean;
  readonly CPUCfsQuota?: boolean;
  readonly PidsLimit?: boolean;
  readonly CgroupVersion?: string;
  readonly Driver?: string;
  readonly LiveRestoreEnabled?: boolean;
  readonly Plugins?: { readonly Log?: readonly string[] | null } | null;
}

/** The fields that are read of the engine's answer to `version`. */
export interface EngineVersion {
  readonly Components?: readonly { readonly Name?: string }[] | null;
}

export interface EngineFacts {
  readonly product: 'Docker Engine' | 'Podman';
  readonly version: string;
  readonly seccomp: boolean;
  /** Ids outside are ids inside plus this offset; null: they are the same. */
  readonly shift: { readonly uid: number; readonly gid: number } | null;
  /** The engine itself runs without privileges. */
  readonly rootless: boolean;
  readonly runtimes: readonly string[];
  readonly defaultRuntime: string;
  readonly enforced: readonly (keyof Limits)[];
  readonly cgroupVersion: string;
  readonly storage: string;
  /** Containers continue when the engine restarts. */
  readonly liveRestore: boolean;
  /** conmon writes `k8s-file` to a path of our choice; the other logs are read through the engine. */
  readonly logDriver: 'local' | 'json-file' | 'k8s-file';
}

export function askFacts(connection: Connection, withinMs?: number): Promise<EngineFacts> {
  return connection.ask(async (docker) => {
    const [info, version] = await Promise.all([docker.info(), docker.version()]);
    return factsFrom(info as EngineInfo, version as EngineVersion);
  }, withinMs);
}

export function factsFrom(info: EngineInfo, { Components }: EngineVersion = {}): EngineFacts {
  const options = (info.SecurityOptions ?? []).map(securityOption);
  const has = (name: string) => options.some((option) => option.name === name);
  const defaultRuntime = info.DefaultRuntime || 'runc';
  const isPodman = Components?.some(({ Name }) => Name?.startsWith('Podman')) ?? false;
  // Podman lists runtimes that are not installed, and accepts no runtime in a request.
  const others = isPodman ? [] : Object.keys(info.Runtimes ?? {});
  return {
    product: isPodman ? 'Podman' : 'Docker Engine',
    version: info.ServerVersion ?? '',
    seccomp: options.some(({ name, profile }) => name === 'seccomp' && profile !== 'unconfined'),
    shift: has('userns') ? shiftIn(info.DockerRootDir ?? '') : null,
    rootless: has('rootless'),
    runtimes: [...new Set([defaultRuntime, ...others])],
    defaultRuntime,
    enforced: enforcedBy(info),
    cgroupVersion: info.CgroupVersion ?? '1',
    storage: info.Driver ?? '',
    liveRestore: isPodman || (info.LiveRestoreEnabled ?? false),
    // json-file keeps text only: bytes that are not UTF-8 are lost, and long lines are cut within characters.
    logDriver: (['k8s-file', 'local'] as const).find((name) => info.Plugins?.Log?.includes(name)) ?? 'json-file',
  };
}

/** `name=seccomp,profile=default`, or only the name in older engines. */
function securityOption(text: string): { name: string; profile: string | undefined } {
  const field = (key: string) => new RegExp(`(?:^|,)${key}=([^,]*)`).exec(text)?.[1];
  return { name: field('name') ?? text, profile: field('profile') };
}

/** An engine that shifts ids keeps its files in a folder named after the first id. */
function shiftIn(folder: string): { uid: number; gid: number } | null {
  const match = /\/(\d+)\.(\d+)$/.exec(folder);
  return match ? { uid: Number(match[1]), gid: Number(match[2]) } : null;
}

function enforcedBy(info: EngineInfo): (keyof Limits)[] {
  const enforced: (keyof Limits)[] = [];
  if (info.CpuCfsQuota || info.CPUCfsQuota) enforced.push('cpus');
  if (info.MemoryLimit) enforced.push('memoryBytes');
  if (info.SwapLimit) enforced.push('swapBytes');
  if (info.PidsLimit) enforced.push('pids');
  return enforced;
}
