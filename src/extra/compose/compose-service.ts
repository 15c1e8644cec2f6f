/** The services of a compose file: a hub, spokes, and `prepare`, which sets the owner of their volumes. */

import { type Limits, resolveLimits } from '../../model/limits.ts';
import { spokePath } from '../../noun/hub/model/spoke.ts';
import { baseImageName, isOwnImageName, ownImageTag } from '../../noun/image/model.ts';
import type { Declaration, DeclaredSandbox, RenderContext } from '../../noun/project/fleet/fleet.ts';
import { isShared, isVolumeType, labelKey, nameOfKey, typeKey, userHash } from '../../noun/volume/model.ts';
import type { Mapping } from './compose-text.ts';
import {
  hubHost,
  hubImageName,
  hubProjectsVariable,
  hubToolsPath,
  hubToolsVolume,
  spokeTokenName,
  spokeTokenPath,
  spokeTokensPath,
} from './model.ts';

export const hubPort = 3000;
/** The network on which the hub is published; the only one with a route out. */
export const frontNetwork = 'front';
/** Service names that sandboxes cannot use. */
export const ownServices: readonly string[] = [hubHost, 'prepare'];

const agent = '1000:1000';
const home = '/home/agent';
const shmBytes = 512 * 1024 ** 2;

const probe = `fetch("http://127.0.0.1:${hubPort}/health").then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))`;

/** The sandboxes that serve their project to the hub: the first of each project. */
export function hubSandboxes({ sandboxes }: Declaration): readonly DeclaredSandbox[] {
  const first = new Map<string, DeclaredSandbox>();
  for (const one of sandboxes.filter(hasProject)) if (!first.has(one.project!.id)) first.set(one.project!.id, one);
  return [...first.values()];
}

export function hasProject({ project, mode }: DeclaredSandbox): boolean {
  return project !== null && mode !== 'none';
}

export function networkName({ name }: DeclaredSandbox): string {
  return `spoke-${name}`;
}

/** The hub reaches files only through the spokes, so it has no project mounted. */
export function hub(fleet: Declaration, context: RenderContext): Mapping {
  const spokes = hubSandboxes(fleet);
  return {
    image: hubImageName,
    ...hardened(context.limits),
    environment: {
      HOME: home,
      CARREL_HOME: `${home}/.carrel`,
      [hubProjectsVariable]: spokes.map(({ project }) => project!.id).join(','),
    },
    volumes: [
      volumeMount(hubVolume('home', fleet, context), home, false),
      volumeMount(hubVolume('tools', fleet, context), hubToolsVolume, false),
      ...spokes.map((one) => volumeMount(tokenOf(one, fleet, context), `${spokeTokensPath}/${one.project!.id}`, false)),
    ],
    networks: Object.fromEntries([frontNetwork, ...spokes.map(networkName)].map(member)),
    ports: [`127.0.0.1:${hubPort}:${hubPort}`],
    healthcheck: { test: ['CMD', 'node', '-e', probe], interval: '2s', timeout: '10s', retries: 60 },
    depends_on: prepared,
  };
}

const prepared = { prepare: { condition: 'service_completed_successfully' } };

export function spoke(sandbox: DeclaredSandbox, fleet: Declaration, context: RenderContext): Mapping {
  const { name, project, engine, runtime, image, secrets } = sandbox;
  const joins = hubSandboxes(fleet).includes(sandbox);
  return {
    image: imageOf(image, context),
    hostname: name,
    ...hardened(resolveLimits(sandbox.limits, context.limits)),
    runtime: engine === 'docker' ? (runtime ?? undefined) : undefined,
    entrypoint: joins ? connected(sandbox) : ownCommand(sandbox),
    command: [],
    working_dir: hasProject(sandbox) ? '/workspace' : home,
    environment: { ...variables(sandbox, joins), ...sandbox.env },
    volumes: [
      ...(hasProject(sandbox) ? [bind(project!.path, '/workspace')] : []),
      ...(joins ? hubMounts(sandbox, fleet, context) : []),
      ...mounts(sandbox, fleet, context),
    ],
    secrets: secrets.length === 0 ? undefined : secrets.map((source) => ({ source, target: source })),
    networks: joins ? Object.fromEntries([member(networkName(sandbox))]) : undefined,
    network_mode: joins ? undefined : 'none',
    healthcheck: { disable: true },
    depends_on: { ...prepared, ...(joins ? { hub: { condition: 'service_healthy' } } : {}) },
  };
}

function imageOf(image: string | null, { installation }: RenderContext): string {
  const name = image ?? baseImageName;
  return isOwnImageName(name) ? ownImageTag(name, installation) : name;
}

function ownCommand({ command }: DeclaredSandbox): string[] {
  return command.length === 0 ? ['sleep', 'infinity'] : [...command];
}

/** The spoke program dials the hub and runs the command beside itself. */
function connected({ command }: DeclaredSandbox): string[] {
  return [spokePath, '--connect', '/workspace', ...(command.length === 0 ? [] : ['--', ...command])];
}

/** No other spoke has its token. */
function hubMounts(sandbox: DeclaredSandbox, fleet: Declaration, context: RenderContext): Mapping[] {
  return [
    volumeMount(hubVolume('tools', fleet, context), hubToolsPath, true),
    volumeMount(tokenOf(sandbox, fleet, context), spokeTokenPath, true),
  ];
}

/** New volumes belong to root. This service, with CHOWN only, makes the agent their owner and exits. Other volumes keep their owner. */
export function prepare(fleet: Declaration, context: RenderContext): Mapping {
  const volumes = volumesOf(fleet, context).filter((name) => name !== nameOf('base-plugins', context));
  return {
    image: imageOf(fleet.sandboxes[0]?.image ?? null, context),
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

/** The names of all volumes: the declared ones, a home for each sandbox, and those of the hub. */
export function volumesOf(fleet: Declaration, context: RenderContext): string[] {
  const declared = fleet.volumes.filter((type) => type !== 'home').map((type) => nameOf(type, context));
  const homes = fleet.sandboxes.map((sandbox) => homeOf(sandbox, fleet, context));
  const spokes = hubSandboxes(fleet);
  const ofHub = spokes.length === 0 ? [] : (['home', 'tools'] as const).map((one) => hubVolume(one, fleet, context));
  return [...declared, ...homes, ...ofHub, ...spokes.map((sandbox) => tokenOf(sandbox, fleet, context))];
}

/** `home` has the keys and records of tokens; `tools` has the programs that spokes start. */
function hubVolume(what: 'home' | 'tools' | 'token', { name }: Declaration, context: RenderContext): string {
  return `${context.volumePrefix}-compose-hub-${what}-${userHash(context.user)}-${name}`;
}

function tokenOf({ name }: DeclaredSandbox, fleet: Declaration, context: RenderContext): string {
  return `${hubVolume('token', fleet, context)}-${name}`;
}

function homeOf({ name }: DeclaredSandbox, fleet: Declaration, context: RenderContext): string {
  return `${nameOf('home', context)}-${fleet.name}-${name}`;
}

/** Differs from the names of Carrel's own volumes, which on the same Docker Engine have other owners and other content. */
function nameOf(volume: string, { volumePrefix, user }: RenderContext): string {
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

function variables(sandbox: DeclaredSandbox, joins: boolean): Mapping {
  const url = `ws://${hubHost}:${hubPort}/mcp`;
  return {
    HOME: home,
    IS_SANDBOX: '1',
    ...(hasProject(sandbox) ? { AGENT_CWD: '/workspace', PROJECT_ID: sandbox.project!.id } : {}),
    ...(joins ? { CARREL_HUB_URL: url, CODEBUDDY_URL: url } : {}),
    ...(joins ? { CODEBUDDY_TOKEN_FILE: `${spokeTokenPath}/${spokeTokenName}` } : {}),
  };
}

function mounts(sandbox: DeclaredSandbox, fleet: Declaration, context: RenderContext): Mapping[] {
  const declared = sandbox.volumes.map(({ volume, target, readonly }) => {
    return volumeMount(nameOf(volume, context), target, readonly || isShared(volume));
  });
  return [volumeMount(homeOf(sandbox, fleet, context), home, false), ...declared];
}

/** `nocopy`: copying from the image would change the owner of an empty volume. */
function volumeMount(source: string, target: string, readonly: boolean): Mapping {
  return { type: 'volume', source, target, ...(readonly ? { read_only: true } : {}), volume: { nocopy: true } };
}

function bind(source: string, target: string): Mapping {
  return { type: 'bind', source, target, bind: { propagation: 'rprivate' } };
}

function member(network: string): readonly [string, Mapping] {
  return [network, {}];
}
