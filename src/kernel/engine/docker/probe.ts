/** Probes a Docker Engine. */

import { existsSync } from 'node:fs';
import { runtimeNames } from '../../../model/engine.ts';
import { isFault } from '../../../model/fault.ts';
import type { Limits } from '../../../model/limits.ts';
import type { EngineAbout, ProbeRow } from '../engine.ts';
import { failure, limitWords, ok, refusalIn, warning } from '../probe-row.ts';
import { Connection } from './connection/connection.ts';
import { askFacts, type EngineFacts } from './connection/facts.ts';
import { findSocket } from './connection/socket.ts';
import type { DockerContext } from './context.ts';
import { canShow } from './mounts/stage.ts';
import { needsRoot } from './start/podman.ts';
import { sysbox } from './start/sysbox.ts';

/** A user is waiting for the answer. */
const examineMs = 15_000;

export interface Examined {
  readonly about: EngineAbout;
  /** Whether its socket exists. */
  readonly isThere: boolean;
  readonly rows: readonly ProbeRow[];
}

/** Does not open the engine, so it leaves nothing behind. */
export async function examineDocker(socketPath: string | null): Promise<Examined> {
  let at = socketPath;
  try {
    at ??= findSocket(process.env);
    const facts = await askFacts(new Connection(at), examineMs);
    const rows = rowsOf(facts, { socketPath: at, canMount: canShow(at, '/') });
    return { about: aboutOf(facts, at, rows), isThere: true, rows };
  } catch (error) {
    if (!isFault(error)) throw error;
    const rows = [failure('docker', error.message, error.hint ?? elsewhere)];
    return { about: aboutOf(null, at, rows), isThere: at === null || existsSync(at), rows };
  }
}

/** If the user does not want this engine, a missing one is ok and failures are warnings. */
export function rowsFor({ rows, isThere }: Examined, isWanted: boolean): readonly ProbeRow[] {
  if (isWanted) return rows;
  if (!isThere) return [ok('docker', 'none here; only --engine docker would need one')];
  return rows.map((row) => (row.level === 'failure' ? { ...row, level: 'warning' } : row));
}

export function probe(context: DockerContext): Promise<readonly ProbeRow[]> {
  return examineDocker(context.connection.socketPath).then(({ rows }) => rows);
}

const elsewhere = 'Use the embedded engine: --engine local.';

function aboutOf(facts: EngineFacts | null, at: string | null, rows: readonly ProbeRow[]): EngineAbout {
  return {
    version: facts && `${facts.product} ${facts.version}`,
    runtime: facts?.defaultRuntime ?? null,
    runtimes: facts ? knownRuntimes(facts) : [],
    at,
    refusal: refusalIn(rows),
  };
}

export interface ProbeInput {
  readonly socketPath: string;
  /** Whether the daemon can show id-mapped mounts to the engine. */
  readonly canMount: boolean;
}

export function rowsOf(facts: EngineFacts, { socketPath, canMount }: ProbeInput): ProbeRow[] {
  return [
    ok('docker', `${facts.product} ${facts.version} at ${socketPath}`),
    runtimeRow(facts),
    seccompRow(facts),
    userNamespaceRow(facts, canMount),
    limitsRow(facts),
    overlayRow(facts, canMount),
    storageRow(facts),
    restartRow(facts),
  ];
}

function knownRuntimes({ runtimes }: EngineFacts): string[] {
  return runtimeNames.filter((name) => runtimes.includes(name));
}

function runtimeRow(facts: EngineFacts): ProbeRow {
  const others = knownRuntimes(facts).filter((name) => name !== facts.defaultRuntime);
  const missing = facts.runtimes.includes(sysbox) ? '' : `; --runtime ${sysbox} is not installed`;
  return ok('docker-runtime', `${[facts.defaultRuntime, ...others].join(', ')}${missing}`);
}

function seccompRow({ seccomp }: EngineFacts): ProbeRow {
  if (seccomp) return ok('docker-seccomp', 'each sandbox gets the filter of the embedded engine');
  return failure(
    'docker-seccomp',
    'no system call is filtered: no sandbox is started',
    'Let dockerd use its default profile: take seccomp-profile out of /etc/docker/daemon.json, and check the kernel.',
  );
}

function userNamespaceRow({ shift, rootless }: EngineFacts, canMount: boolean): ProbeRow {
  if (rootless) {
    return failure(
      'docker-user-namespace',
      'the engine itself runs without privileges and can give no folder to agent: no sandbox is started',
      'Use the embedded engine: --engine local.',
    );
  }
  if (shift) return ok('docker-user-namespace', `root inside is uid ${shift.uid} outside`);
  if (canMount) return ok('docker-user-namespace', 'agent is an id without an account, another one for each user');
  return warning(
    'docker-user-namespace',
    'containers have the ids of the host: agent is an ordinary user of it, or the owner of the project',
    'Set userns-remap in /etc/docker/daemon.json; projects of others then need --engine local.',
  );
}

function limitsRow({ enforced, cgroupVersion }: EngineFacts): ProbeRow {
  const all: readonly (keyof Limits)[] = ['cpus', 'memoryBytes', 'swapBytes', 'pids'];
  const missing = all.filter((key) => !enforced.includes(key)).map((key) => limitWords[key]);
  const detail = `v${cgroupVersion}, enforced: ${enforced.map((key) => limitWords[key]).join(', ') || 'nothing'}`;
  if (missing.length === 0) return ok('docker-cgroups', detail);
  return warning(
    'docker-cgroups',
    `${detail}; not ${missing.join(', ')}`,
    'Boot with the kernel options cgroup_enable=memory swapaccount=1, and see docker info.',
  );
}

function overlayRow({ product }: EngineFacts, canMount: boolean): ProbeRow {
  if (product === 'Podman' && !canMount) {
    const { message, hint } = needsRoot();
    return failure('docker-workspaces', `${message}: no sandbox is started`, hint!);
  }
  if (canMount)
    return ok('docker-workspaces', 'working copies are mounted for the engine, with any owner shown as agent');
  return warning(
    'docker-workspaces',
    'nothing can be mounted for the engine from here: working copies of projects of root are refused',
    'Run Carrel as root, beside dockerd rather than in a container; or use the embedded engine: --engine local.',
  );
}

function storageRow({ storage, logDriver }: EngineFacts): ProbeRow {
  if (logDriver !== 'json-file') return ok('docker-storage', storage);
  return warning(
    'docker-storage',
    `${storage}; logs are kept as text, so other bytes in them are lost`,
    'Use a Docker Engine that has the log driver local.',
  );
}

function restartRow({ liveRestore, product }: EngineFacts): ProbeRow {
  const fate = liveRestore ? 'go on' : 'end';
  return ok('docker-restart', `sandboxes ${fate} when ${product === 'Podman' ? 'Podman' : 'dockerd'} restarts`);
}
