/** Constructs the scope of each user. */

import { compose } from '../../extra/compose/compose.ts';
import { steadyClock } from '../../lib/flow/steady-clock.ts';
import type { Work } from '../../lib/flow/work.ts';
import { overlayRefusal, shiftRefusal } from '../../lib/sys/overlay-trial.ts';
import type { Fault } from '../../model/fault.ts';
import type { Actor } from '../../model/user.ts';
import { agentNeeds } from '../../noun/agent/agent.ts';
import { installedVersion } from '../../noun/agent/app/installed.ts';
import { TerminalAgents } from '../../noun/agent/app/terminal-agents.ts';
import { examineAll, type Scope } from '../../noun/app.ts';
import { hubOf } from '../../noun/hub/app/wiring.ts';
import { UserImages } from '../../noun/image/app/user-images.ts';
import { diskUse } from '../../noun/installation/app/disk/use.ts';
import { EngineViews } from '../../noun/installation/app/engine/engine-views.ts';
import type { Installation } from '../../noun/installation/installation.ts';
import { UserCredentials } from '../../noun/network/app/credential/user-credentials.ts';
import { Fleets } from '../../noun/project/app/fleet/fleets.ts';
import { Trusts } from '../../noun/project/app/fleet/trusts.ts';
import {
  commandsOf,
  networkOf,
  type SandboxWiring,
  sandboxesOf,
  swarmsOf,
  type UserGrants,
  workspaceParts,
  workspacesOf,
} from '../../noun/sandbox/app/wiring.ts';
import type { Sandboxes } from '../../noun/sandbox/sandbox.ts';
import type { LiveSessions } from '../../noun/session/app/live-sessions.ts';
import { openSessions, sessionsOf } from '../../noun/session/app/wiring.ts';
import { hasHostProgram } from '../../noun/swarm/app/host-program.ts';
import { LiveSwarms } from '../../noun/swarm/app/live-swarms.ts';
import { Tasks } from '../../noun/swarm/task/tasks.ts';
import { UserSecrets } from '../../noun/user/app/secret/user-secrets.ts';
import { UserVolumes } from '../../noun/volume/app/user-volumes.ts';
import { anyShift } from '../engine/local/stage/owner-namespace.ts';
import { nounsOf, openScopedNouns, type ScopedNouns } from './noun-wiring.ts';
import type { Resources } from './resources.ts';
import { Scopes } from './scopes.ts';
import type { Parts } from './wiring.ts';

/** The parts of the process. */
export interface DaemonProcess {
  readonly installation: Installation;
  readonly work: Work;
}

type ScopedParts = ScopedNouns['parts'];

interface Shared extends Resources, SandboxWiring, DaemonProcess, ScopedParts {
  readonly tasks: Tasks;
  readonly liveSwarms: LiveSwarms;
  readonly liveSessions: LiveSessions;
  readonly scopes: { of(actor: Actor): Scope };
  readonly engineViews: EngineViews;
  readonly doctor: Scope['doctor'];
}

export async function openScopes(resources: Resources, parts: Parts, running: DaemonProcess) {
  const tasks = new Tasks();
  const scopeOfUser = (user: string) => scopes.of(parts.users.actorOf(user));
  const liveSwarms = new LiveSwarms({ ...resources, tasks, swarmsOf: (user) => scopeOfUser(user).swarms });
  const liveSessions = openSessions({ ...resources, ...parts }, scopeOfUser);
  const scopedNouns = openScopedNouns({ ...resources, ...parts }, scopeOfUser, liveSessions);
  const refusesOverlay = await overlayTrial(resources);
  const scopes: Scopes<Scope> = new Scopes((actor) => scopeOf(actor, shared));
  const own = () => scopeOfUser(resources.owner);
  const shared: Shared = {
    ...{ ...resources, ...parts, ...running, ...scopedNouns.parts },
    ...{ tasks, liveSwarms, liveSessions, refusesOverlay, scopes },
    engineViews: openEngineViews(resources, own),
    doctor: openDoctor(resources, parts, own),
    steadyMs: steadyClock(),
  };
  return { scopes, liveSwarms, liveSessions, scopedNouns };
}

function openEngineViews({ local, engines, config, store }: Resources, own: () => Scope): EngineViews {
  const docker = () => engines.named('docker');
  const someImage = () => own().images.someReady();
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
  const kept = keptOf(actor, shared);
  const later = () => sandboxes;
  const images = imagesOf(actor, shared, { ...kept, sandboxes: later });
  const account = () => shared.users.accountOf(actor);
  const { scope: nouns, ...grants } = nounsOf(actor, shared, { ...kept, sandboxes: later, account });
  const sandboxes: Sandboxes = sandboxesOf(actor, shared, { ...kept, images, ...grants });
  const common = commonOf(shared);
  const parts = workspaceParts(shared, sandboxes);
  const workspaces = workspacesOf(parts);
  const { home } = shared;
  const hasProgram = (program: string) => hasHostProgram(program, home.userHome(actor.name));
  const needs = agentNeeds({ ...kept, hasProgram });
  const versionOf = (agent: string) => installedVersion(kept.volumes, home.volume, agent);
  return {
    ...common,
    ...kept,
    ...{ images, sandboxes },
    ...nouns,
    ...workspaces,
    sandboxesFor: (caller, user) => shared.scopes.of(shared.users.actAs(caller, user)).sandboxes,
    network: networkOf(actor, shared, sandboxes),
    ...swarmsOf(actor, parts, { liveSwarms: shared.liveSwarms, tasks: shared.tasks, ...needs }),
    terminalAgents: new TerminalAgents({ sandboxes, needs: { ...needs, installedVersion: versionOf } }),
    sessions: sessionsOf({ ...shared, ...parts, commands: common.commands }, needs),
    ...hubOf(actor, { ...shared, ...parts, ...workspaces, rooms: nouns.rooms, commands: common.commands }),
    fleets: fleetsOf(actor, shared, { ...kept, ...nouns, images, sandboxes }),
  };
}

/** The parts of a scope that are the same for all users. */
function commonOf(shared: Shared) {
  const { installation, work, home, local, engines, engineOf, engineViews, doctor, report, now } = shared;
  const { store, audit, users, hubTokens, agentServers, liveSwarms, liveSessions, liveRooms, watchers } = shared;
  return {
    ...{ installation, work, home, local, engines, engineOf, engineViews, doctor, report, now },
    ...{ store, audit, users, hubTokens, agentServers, liveSwarms, liveSessions, liveRooms, watchers },
    hubOf: (user: string) => shared.scopes.of(users.actorOf(user)).hub,
    diskUse: () => diskUse(home, store),
    ...commandsOf(shared),
  };
}

function keptOf(actor: Actor, shared: Shared): UserGrants {
  const { store, secrets, sandboxSecrets, networks, now } = shared;
  const refresh = (id: string) => networks.tryRefresh(id);
  return {
    secrets: new UserSecrets(actor.name, { store, secrets, sandboxSecrets, now, refresh }),
    credentials: new UserCredentials(actor, { store, secrets, now }),
    volumes: volumesOf(actor, shared),
    trusts: new Trusts(actor.name, { store, now }),
  };
}

function volumesOf(actor: Actor, { volumes, home, config, users, owner, now, liveBanks }: Shared): UserVolumes {
  return new UserVolumes(actor, {
    ...{ volumes, home, prefix: config.volumePrefix, now },
    users: () => users.list(users.actorOf(owner)),
    eraseBank: (user) => liveBanks.erase(user),
  });
}

interface ImageWiring extends Pick<UserGrants, 'secrets'> {
  readonly sandboxes: () => Sandboxes;
}

function imagesOf(actor: Actor, { images }: Shared, { secrets, sandboxes }: ImageWiring): UserImages {
  return new UserImages(actor, {
    ...images,
    projectFolder: (path) => sandboxes().project(path),
    refuseText: (where, text) => secrets.refuseText(where, text),
  });
}

type FleetWiring = UserGrants & Pick<Scope, 'images' | 'sandboxes' | 'rooms' | 'watches'>;

function fleetsOf(actor: Actor, { config, home, workspace }: Shared, parts: FleetWiring): Fleets {
  return new Fleets(actor, {
    ...parts,
    ...{ volumePrefix: config.volumePrefix, installation: home.installation, unapplied: workspace.unapplied, compose },
    get limits() {
      return config.limits;
    },
  });
}
