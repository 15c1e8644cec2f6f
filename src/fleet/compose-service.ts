/** The services of a compose file: a hub, spokes, and `prepare`, which sets the owner of their volumes. */
import { baseImageName } from '../model/image.ts';
import { type Limits, resolveLimits } from '../model/limits.ts';
import { isShared, isVolumeType, labelKey, nameOfKey, typeKey } from '../model/volume.ts';
import type { Mapping } from './compose-text.ts';
import type { Declaration, DeclaredSandbox } from './fleet.ts';

export interface ComposeContext {
  /** The owner of the volumes; part of their names. */
  readonly user: string;
  readonly volumePrefix: string;
  /** Defaults for limits that are not declared. */
  readonly limits: Limits;
}

export const hubImage = 'carrel-hub:latest';
export const hubPort = 3000;
/** The network on which the hub is published; the only one with a route out. */
export const frontNetwork = 'front';
/** Service names that sandboxes cannot use. */
export const ownServices: readonly string[] = ['hub', 'prepare'];

const agent = '1000:1000';
const home = '/home/agent';
const shmBytes = 512 * 1024 ** 2;

const probe = `fetch("http://127.0.0.1:${hubPort}/health").then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))`;

/** Sandboxes with a project are connected to the hub. */
export function joinsHub({ project, mode }: DeclaredSandbox): boolean {
  return project !== null && mode !== 'none';
}

export function networkName({ name }: DeclaredSandbox): string {
  return `spoke-${name}`;
}

export function hub(fleet: Declaration, context: ComposeContext): Mapping {
  const { memoryBytes } = context.limits;
  const { tmpfs, ...rest } = hardened(context.limits);
  return {
    image: hubImage,
    ...rest,
    environment: { HOME: home, CARREL_HOME: `${home}/.carrel` },
    tmpfs: [...tmpfs, `${home}:rw,nosuid,nodev,uid=1000,gid=1000,mode=700,size=${Math.floor(memoryBytes / 4)}`],
    volumes: Object.entries(fleet.projects).map(([id, path]) => bind(path, `/workspaces/${id}`)),
    networks: Object.fromEntries([frontNetwork, ...fleet.sandboxes.filter(joinsHub).map(networkName)].map(joined)),
    ports: [`127.0.0.1:${hubPort}:${hubPort}`],
    healthcheck: { test: ['CMD', 'node', '-e', probe], interval: '5s', timeout: '10s', retries: 12 },
  };
}

export function spoke(sandbox: DeclaredSandbox, fleet: Declaration, context: ComposeContext): Mapping {
  const { name, project, engine, runtime, image, command, secrets } = sandbox;
  const joins = joinsHub(sandbox);
  return {
    image: image ?? baseImageName,
    hostname: name,
    ...hardened(resolveLimits(sandbox.limits, context.limits)),
    runtime: engine === 'docker' ? (runtime ?? undefined) : undefined,
    entrypoint: command.length === 0 ? ['sleep', 'infinity'] : [...command],
    command: [],
    working_dir: joins ? '/workspace' : home,
    environment: { ...variables(sandbox), ...sandbox.env },
    volumes: [...(joins ? [bind(project!.path, '/workspace')] : []), ...mounts(sandbox, fleet, context)],
    secrets: secrets.length === 0 ? undefined : secrets.map((source) => ({ source, target: source })),
    networks: joins ? Object.fromEntries([joined(networkName(sandbox))]) : undefined,
    network_mode: joins ? undefined : 'none',
    healthcheck: { disable: true },
    depends_on: {
      prepare: { condition: 'service_completed_successfully' },
      ...(joins ? { hub: { condition: 'service_healthy' } } : {}),
    },
  };
}

/** New volumes belong to root. This service, with CHOWN only, makes the agent their owner and exits. Other volumes keep their owner. */
export function prepare(fleet: Declaration, context: ComposeContext): Mapping {
  const volumes = volumesOf(fleet, context).filter((name) => name !== nameOf('base-plugins', context));
  return {
    image: fleet.sandboxes[0]?.image ?? baseImageName,
    ...hardened(context.limits),
    user: '0:0',
    cap_add: ['CHOWN'],
    entrypoint: [
      'find',
      '/volumes',
      '-mindepth',
      '1',
      '-maxdepth',
      '1',
      '-user',
      '0',
      '-exec',
      'chown',
      agent,
      '{}',
      '+',
    ],
    command: [],
    volumes: volumes.map((name) => volumeMount(name, `/volumes/${name}`, false)),
    network_mode: 'none',
    healthcheck: { disable: true },
  };
}

/** The names of all volumes: the declared ones, and a home for each sandbox. */
export function volumesOf(fleet: Declaration, context: ComposeContext): string[] {
  const declared = fleet.volumes.filter((type) => type !== 'home').map((type) => nameOf(type, context));
  return [...declared, ...fleet.sandboxes.map((sandbox) => homeOf(sandbox, fleet, context))];
}

function homeOf({ name }: DeclaredSandbox, fleet: Declaration, context: ComposeContext): string {
  return `${nameOf('home', context)}-${fleet.name}-${name}`;
}

/** Differs from the names of Carrel's own volumes, which on the same Docker Engine have other owners and other content. */
function nameOf(volume: string, { volumePrefix, user }: ComposeContext): string {
  const key = isVolumeType(volume) ? typeKey(volume) : labelKey(volume);
  return nameOfKey(`${volumePrefix}-compose`, key, user);
}

/** The same hardening as sandboxes of the docker engine. */
function hardened(limits: Limits) {
  const { cpus, memoryBytes, swapBytes, pids } = limits;
  return {
    init: true,
    user: agent,
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    ipc: 'private',
    restart: 'no',
    cpus,
    mem_limit: memoryBytes,
    memswap_limit: swapBytes,
    pids_limit: pids,
    oom_score_adj: 500,
    shm_size: Math.min(shmBytes, memoryBytes),
    ulimits: { core: 0 },
    tmpfs: [`/tmp:rw,exec,nosuid,nodev,mode=1777,size=${Math.floor(memoryBytes / 2)}`],
    logging: { driver: 'local', options: { 'max-size': '10m', 'max-file': '5' } },
  } satisfies Mapping;
}

function variables(sandbox: DeclaredSandbox): Mapping {
  const common = { HOME: home, IS_SANDBOX: '1' };
  if (!joinsHub(sandbox)) return common;
  const url = `ws://hub:${hubPort}/mcp`;
  return {
    ...common,
    AGENT_CWD: '/workspace',
    PROJECT_ID: sandbox.project!.id,
    CARREL_HUB_URL: url,
    CODEBUDDY_URL: url,
  };
}

function mounts(sandbox: DeclaredSandbox, fleet: Declaration, context: ComposeContext): Mapping[] {
  const asked = sandbox.volumes.map(({ volume, target, readonly }) => {
    return volumeMount(nameOf(volume, context), target, readonly || isShared(volume));
  });
  return [volumeMount(homeOf(sandbox, fleet, context), home, false), ...asked];
}

/** `nocopy`: copying from the image would change the owner of an empty volume. */
function volumeMount(source: string, target: string, readonly: boolean): Mapping {
  return { type: 'volume', source, target, ...(readonly ? { read_only: true } : {}), volume: { nocopy: true } };
}

function bind(source: string, target: string): Mapping {
  return { type: 'bind', source, target, bind: { propagation: 'rprivate' } };
}

function joined(network: string): readonly [string, Mapping] {
  return [network, {}];
}
