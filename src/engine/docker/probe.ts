/** What this Docker Engine offers. */
import { isFault } from '../../model/fault.ts';
import type { Limits } from '../../model/limits.ts';
import type { ProbeRow } from '../engine.ts';
import { failure, ok, warning } from '../local/probe-row.ts';
import { runtimeNames } from '../local/runtime.ts';
import type { Context } from './context.ts';
import type { Facts } from './facts.ts';

export async function probe(context: Context): Promise<readonly ProbeRow[]> {
  const { socketPath } = context.connection;
  try {
    return rowsOf(await context.facts(), socketPath);
  } catch (error) {
    if (!isFault(error)) throw error;
    return [failure('docker', error.message, error.hint ?? 'Use the embedded engine: --engine local.')];
  }
}

export function rowsOf(facts: Facts, socketPath: string): ProbeRow[] {
  return [
    ok('docker', `${facts.version} at ${socketPath}`),
    runtimeRow(facts),
    seccompRow(facts),
    userNamespaceRow(facts),
    limitsRow(facts),
    storageRow(facts),
    restartRow(facts),
  ];
}

function runtimeRow({ runtimes, defaultRuntime }: Facts): ProbeRow {
  const others = runtimeNames.filter((name) => runtimes.includes(name) && name !== defaultRuntime);
  return ok('docker-runtime', [defaultRuntime, ...others].join(', '));
}

function seccompRow({ seccomp }: Facts): ProbeRow {
  if (seccomp) return ok('docker-seccomp', 'default profile');
  return failure(
    'docker-seccomp',
    'no system call is filtered: no sandbox is started',
    'Let dockerd use its default profile: take seccomp-profile out of /etc/docker/daemon.json, and check the kernel.',
  );
}

function userNamespaceRow({ shift, rootless }: Facts): ProbeRow {
  if (rootless) {
    return failure(
      'docker-user-namespace',
      'the engine itself runs without privileges and can give no folder to agent: no sandbox is started',
      'Use the embedded engine: --engine local.',
    );
  }
  if (shift) return ok('docker-user-namespace', `root inside is uid ${shift.uid} outside`);
  return warning(
    'docker-user-namespace',
    'containers have the ids of the host: agent is an ordinary user of it, or the owner of the project',
    'Set userns-remap in /etc/docker/daemon.json; projects of others then need --engine local.',
  );
}

const words: { readonly [key in keyof Limits]: string } = {
  cpus: 'cpu',
  memoryBytes: 'memory',
  swapBytes: 'swap',
  pids: 'pids',
  diskBytes: 'disk',
};

function limitsRow({ enforced, cgroupVersion }: Facts): ProbeRow {
  const all: readonly (keyof Limits)[] = ['cpus', 'memoryBytes', 'swapBytes', 'pids'];
  const missing = all.filter((key) => !enforced.includes(key)).map((key) => words[key]);
  const detail = `v${cgroupVersion}, enforced: ${enforced.map((key) => words[key]).join(', ') || 'nothing'}`;
  if (missing.length === 0) return ok('docker-cgroups', detail);
  return warning(
    'docker-cgroups',
    `${detail}; not ${missing.join(', ')}`,
    'Boot with the kernel options cgroup_enable=memory swapaccount=1, and see docker info.',
  );
}

function storageRow({ storage, logDriver }: Facts): ProbeRow {
  if (logDriver === 'local') return ok('docker-storage', storage);
  return warning(
    'docker-storage',
    `${storage}; logs are kept as text, so other bytes in them are lost`,
    'Use a Docker Engine that has the log driver local.',
  );
}

function restartRow({ liveRestore }: Facts): ProbeRow {
  const fate = liveRestore ? 'go on' : 'end';
  return ok('docker-restart', `sandboxes ${fate} when dockerd restarts`);
}
