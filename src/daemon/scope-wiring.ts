/** Constructs the scope of each user. */

import { installedVersion } from '../app/agent/installed.ts';
import { TerminalAgents } from '../app/agent/terminal-agents.ts';
import type { AgentNeeds } from '../app/agent-needs.ts';
import { examineAll, type Scope } from '../app/app.ts';
import { UserCredentials } from '../app/credential/credentials.ts';
import { diskUse } from '../app/disk/use.ts';
import { EngineViews } from '../app/engine/engines.ts';
import { Fleets } from '../app/fleet/fleets.ts';
import { readProjectFile } from '../app/fleet/project-file.ts';
import { Trusts } from '../app/fleet/trusts.ts';
import { UserImages } from '../app/image/images.ts';
import type { Installation } from '../app/installation/installation.ts';
import { HostPorts } from '../app/network/host-ports.ts';
import { hostRegistries, withRegistries } from '../app/network/host-registry.ts';
import { effectiveRules } from '../app/network/policy.ts';
import { UserNetworks } from '../app/network/user-networks.ts';
import { EarlierOutput } from '../app/sandbox/earlier-output.ts';
import { OpenCommands } from '../app/sandbox/open-commands.ts';
import { outputOf } from '../app/sandbox/output.ts';
import { Sandboxes } from '../app/sandbox/sandboxes.ts';
import { Scopes } from '../app/scopes.ts';
import { UserSecrets } from '../app/secret/secrets.ts';
import type { LiveSessions } from '../app/session/live-sessions.ts';
import { hasHostProgram } from '../app/swarm/host-program.ts';
import { UserVolumes } from '../app/volume/volumes.ts';
import { AgentCommits } from '../app/workspace/agent-commits.ts';
import { Applies } from '../app/workspace/applies.ts';
import { Reviews } from '../app/workspace/reviews.ts';
import { Snapshots } from '../app/workspace/snapshots.ts';
import type { LogOptions } from '../engine/engine.ts';
import { anyShift } from '../engine/local/owner-namespace.ts';
import { steadyClock } from '../lib/steady-clock.ts';
import type { Work } from '../lib/work.ts';
import { installVolume } from '../model/agent.ts';
import type { Fault } from '../model/fault.ts';
import type { NetworkPresets } from '../model/network-preset.ts';
import type { Sandbox } from '../model/sandbox.ts';
import type { Actor } from '../model/user.ts';
import { overlayRefusal, shiftRefusal } from '../workspace/trial.ts';
import { hubOf } from './hub-wiring.ts';
import { nounsOf, openScopedNouns, type ScopedNouns } from './noun-wiring.ts';
import type { Resources } from './resources.ts';
import { openSessions, sessionsOf } from './session-wiring.ts';
import { Swarms } from './swarm-wiring.ts';
import type { Parts } from './wiring.ts';

/** The parts of the process. */
export interface Process {
  readonly installation: Installation;
  readonly work: Work;
}

type ScopedParts = ScopedNouns['parts'];

interface Shared extends Resources, Parts, Process, ScopedParts {
  readonly swarms: Swarms;
  readonly liveSessions: LiveSessions;
  readonly steadyMs: () => number;
  readonly refusesOverlay: (lower: string) => string | null;
  readonly scopes: { of(actor: Actor): Scope };
  readonly engineViews: EngineViews;
  readonly doctor: Scope['doctor'];
}

export async function openScopes(
  resources: Resources,
  parts: Parts,
  running: Process,
): Promise<
  Pick<Shared, 'swarms' | 'liveSessions'> & {
    readonly scopes: Scopes<Scope>;
    readonly scopedNouns: ScopedNouns;
  }
> {
  const { store, threads, config, now, report } = resources;
  const swarmsOf = (user: string) => scopeOfUser(user).swarms;
  const swarms = new Swarms({ store, threads, config, swarmsOf, now, report });
  const scopeOfUser = (user: string) => scopes.of(parts.users.actorOf(user));
  const liveSessions = openSessions({ ...resources, ...parts }, scopeOfUser);
  const scopedNouns = openScopedNouns({ ...resources, ...parts }, scopeOfUser, liveSessions);
  const refusesOverlay = await overlayTrial(resources);
  const scopes: Scopes<Scope> = new Scopes((actor) => scopeOf(actor, shared));
  const own = () => scopes.of({ name: resources.owner, isOwner: true });
  const engineViews = openEngineViews(resources, own);
  const doctor = openDoctor(resources, parts, own);
  const shared: Shared = {
    ...{
      ...resources,
      ...parts,
      ...running,
      swarms,
      ...scopedNouns.parts,
      liveSessions,
      refusesOverlay,
      scopes,
      engineViews,
      doctor,
    },
    steadyMs: steadyClock(),
  };
  return { scopes, swarms, liveSessions, scopedNouns };
}

function openEngineViews({ local, engines, config, store }: Resources, own: () => Scope): EngineViews {
  const someImage = async () => {
    const found = (await own().images.list()).find(({ state }) => state === 'ready');
    return found ? (found.id ?? found.name) : null;
  };
  const docker = () => engines.named('docker');
  return new EngineViews({ local, docker, someImage, dockerSocket: config.dockerSocket, store });
}

function openDoctor(
  { local, store, home, owner }: Resources,
  { spaceHints }: Parts,
  own: () => Scope,
): Scope['doctor'] {
  return {
    examine: () => examineAll(own()),
    get proof() {
      const explained = (fault: Fault) => spaceHints.named(fault, owner);
      return { engine: local, store, home, explained, sandboxes: own().sandboxes };
    },
  };
}

/** Resolves to a function that says why an overlay over a folder is not possible; null: it is. */
async function overlayTrial({ home: { home }, rootless }: Resources): Promise<(lower: string) => string | null> {
  const otherOwners = rootless ? null : await anyShift();
  return (lower) =>
    overlayRefusal(lower, home, rootless ? 'user' : 'trusted') ??
    (otherOwners === null ? null : shiftRefusal(lower, home, otherOwners));
}

function scopeOf(actor: Actor, shared: Shared): Scope {
  const { home, config, store, secrets, networks, data, now } = shared;
  const userSecrets = new UserSecrets(actor.name, {
    ...{ store, secrets, sandboxSecrets: shared.sandboxSecrets, now },
    refresh: (id) => networks.tryRefresh(id),
  });
  const credentials = new UserCredentials(actor, { store, secrets, now });
  const volumes = volumesOf(actor, shared);
  const trusts = new Trusts(actor.name, { store, now });
  const images = new UserImages(actor, {
    ...shared.images,
    projectFolder: (path) => sandboxes.project(path),
    refuseText: (where, text) => userSecrets.refuseText(where, text),
  });
  const { scope: nouns, ...grants } = nounsOf(actor, shared, {
    ...{ secrets: userSecrets, volumes },
    sandboxes: () => sandboxes,
    account: () => accountOf(actor, shared),
  });
  const sandboxes: Sandboxes = sandboxesOf(actor, shared, {
    ...{ secrets: userSecrets, credentials, volumes, images, trusts },
    ...grants,
  });
  const { engineOf, reconciler, threads, locks, watch, steadyMs } = shared;
  const keepBases = (sandbox: Sandbox) => watch.keep(sandbox);
  const parts = {
    store,
    engineOf,
    reconciler,
    now,
    steadyMs,
    sandboxes,
    home,
    threads,
    locks,
    keepBases,
    openFolder: data.openFolder,
  };
  const { volumePrefix } = config;
  const { rooms, watches } = nouns;
  const common = commonOf(shared);
  const reviews = new Reviews(parts);
  const needs = keysOf(actor, shared, { secrets: userSecrets, credentials });
  return {
    ...common,
    ...{ sandboxes, secrets: userSecrets, credentials, volumes, images, trusts },
    ...nouns,
    sandboxesFor: (asking, user) => shared.scopes.of(shared.users.actAs(asking, user)).sandboxes,
    reviews,
    applies: new Applies(parts),
    agentCommits: new AgentCommits(parts),
    agentServers: shared.agentServers,
    snapshots: new Snapshots(parts),
    diskUse: () => diskUse(parts.home, parts.store),
    network: new UserNetworks(actor, {
      ...{ store, sandboxes, networks, now, hostPorts: new HostPorts(actor, store) },
      credentialHosts: (box) => shared.supply.hostsOf(box),
      get presets() {
        return presetsOf(actor, config.network);
      },
      registries: () => (actor.isOwner ? hostRegistries() : []),
      get defaults() {
        return config.network.allow;
      },
      get limits() {
        return config.network.limits;
      },
    }),
    ...shared.swarms.of(parts, needs, actor.isOwner),
    terminalAgents: new TerminalAgents({
      sandboxes,
      needs: { ...needs, installedVersion: (agent) => installedIn(volumes, home, agent) },
    }),
    sessions: sessionsOf({ ...shared, ...parts, commands: common.commands }, needs),
    ...hubOf(actor, { ...shared, ...parts, rooms, reviews, commands: common.commands }),
    fleets: new Fleets(actor, {
      ...{ sandboxes, volumes, rooms, watches, volumePrefix, trusts, images, installation: home.installation },
      get limits() {
        return config.limits;
      },
      secrets: userSecrets,
      unapplied: data.unapplied,
    }),
  };
}

/** The parts of a scope that are the same for all users. */
function commonOf(shared: Shared) {
  const { store, audit, users, hubTokens, engineOf, engineViews, doctor, installation, work, watch, home, config } =
    shared;
  const { local, engines, report, now, agentServers } = shared;
  return {
    ...{ home, local, engines, report, now },
    ...{ store, audit, users, hubTokens, engineOf, engineViews, doctor, installation, work },
    commands: {
      starts: async (sandbox: Sandbox) => {
        await Promise.all([watch.keepSoon(sandbox), agentServers.settled(sandbox)]);
      },
      ended: (sandbox: Sandbox) => watch.keep(sandbox),
      open: new OpenCommands(),
    },
    output: (sandbox: Sandbox, options: LogOptions) =>
      outputOf(engineOf(sandbox), sandbox.id, new EarlierOutput(home.sandbox(sandbox.id), config.log), options),
  };
}

function installedIn(volumes: UserVolumes, home: Shared['home'], agent: string): string | null {
  const volume = volumes.list(false).find(({ label }) => label === installVolume);
  return volume === undefined ? null : installedVersion(home.volume(volume.name), agent);
}

/** The secrets, credentials and programs of a user, as agents need them. */
function keysOf(
  { name: user }: Actor,
  { home }: Shared,
  { secrets, credentials }: Pick<UserParts, 'secrets' | 'credentials'>,
): AgentNeeds {
  return {
    hasSecret: (name) => secrets.list().some((secret) => secret.name === name),
    credentialsFor: (preset) =>
      credentials
        .list()
        .filter((one) => one.preset === preset)
        .map(({ name }) => name),
    addCredential: (preset, secret) => credentials.addFor(preset, secret).name,
    hasProgram: (program) => hasHostProgram(program, home.userHome(user)),
  };
}

function volumesOf(actor: Actor, { volumes, home, config, users, owner, now, liveBanks }: Shared): UserVolumes {
  return new UserVolumes(actor, {
    ...{ volumes, home, prefix: config.volumePrefix, now },
    users: () => users.list(users.actorOf(owner)),
    eraseBank: (user) => liveBanks.erase(user),
  });
}

/**
 * The account whose folders a user may use. Without root, agents act on folders as the account of the daemon, so others
 * have none.
 */
function accountOf(actor: Actor, { rootless, users }: Shared): number | null | 'any' {
  return actor.isOwner ? 'any' : rootless ? null : (users.find(actor.name)?.uid ?? null);
}

type UserParts = Pick<Scope, 'secrets' | 'credentials' | 'volumes' | 'images' | 'trusts'>;
type Grants = Pick<ReturnType<typeof nounsOf>, 'granting' | 'requireShares'>;

function sandboxesOf(
  actor: Actor,
  shared: Shared,
  { secrets, credentials, volumes, images, trusts, granting, requireShares }: UserParts & Grants,
): Sandboxes {
  const { home, config, store, engineOf, reconciler, loop, networks, data, now, steadyMs } = shared;
  return new Sandboxes({
    ...{ store, engineOf, reconciler, now, steadyMs, config, images },
    places: home,
    owner: actor.name,
    get account() {
      return accountOf(actor, shared);
    },
    overlayRefusal: shared.refusesOverlay,
    unapplied: data.unapplied,
    ...{ granting, requireShares },
    requireHome: () => volumes.requireMountable(),
    credentialGrants: (names) => credentials.grants(names),
    networkRules: (asked, project) =>
      effectiveRules(asked, {
        ...{
          defaults: config.network.allow,
          presets: presetsOf(actor, config.network),
          isOwner: actor.isOwner,
          project,
          readFile: readProjectFile,
        },
        requireTrust: (file, grants) => trusts.require(file, grants),
      }),
    hostPorts: new HostPorts(actor, store),
    checkSpec: (spec) => secrets.refuseIn(spec),
    networkTrouble: (id) => networks.trouble(id),
    wake: (id) => void loop.wake(id),
  });
}

/** Only the owner's presets have the names of the owner's registries. */
function presetsOf({ isOwner }: Actor, { presets, ownPresets }: Resources['config']['network']): NetworkPresets {
  return isOwner ? withRegistries(presets, ownPresets, hostRegistries()) : presets;
}
