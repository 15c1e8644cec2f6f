/** Constructs the sandboxes of a user, and what works on them: their workspaces, networks and swarms. */

import type { nounsOf } from '../../../kernel/daemon/noun-wiring.ts';
import type { ConfiguredKernel } from '../../../kernel/daemon/resources.ts';
import type { Parts } from '../../../kernel/daemon/wiring.ts';
import type { LogOptions } from '../../../kernel/engine/engine.ts';
import type { Actor } from '../../../model/user.ts';
import type { AgentNeeds } from '../../agent/agent.ts';
import type { Scope } from '../../app.ts';
import { HostPorts } from '../../network/app/host-ports.ts';
import { hostRegistries, presetsFor } from '../../network/app/host-registry.ts';
import { effectiveRules } from '../../network/app/policy.ts';
import { UserNetworks } from '../../network/app/user-networks.ts';
import { readProjectFile } from '../../project/app/project-file.ts';
import type { LiveSwarms } from '../../swarm/app/live-swarms.ts';
import { UserTasks } from '../../swarm/app/task/user-tasks.ts';
import { workerOf } from '../../swarm/swarm.ts';
import type { Tasks } from '../../swarm/task/tasks.ts';
import { AgentCommits } from '../../workspace/app/agent-commits.ts';
import { Applies } from '../../workspace/app/applies.ts';
import { fetchCommits } from '../../workspace/app/commits.ts';
import { Reviews } from '../../workspace/app/reviews.ts';
import { Snapshots } from '../../workspace/app/snapshots.ts';
import type { WorkspaceParts } from '../../workspace/app/workspaces.ts';
import type { Sandbox } from '../model.ts';
import type { Sandboxes } from '../sandbox.ts';
import { EarlierOutput } from './earlier-output.ts';
import { OpenCommands } from './open-commands.ts';
import { outputOf } from './output.ts';
import { UserSandboxes } from './user-sandboxes.ts';

export interface SandboxWiring extends ConfiguredKernel, Parts {
  readonly steadyMs: () => number;
  readonly refusesOverlay: (lower: string) => string | null;
}

export type UserGrants = Pick<Scope, 'secrets' | 'credentials' | 'volumes' | 'trusts'>;
type Granted = Pick<Scope, 'images'> & Pick<ReturnType<typeof nounsOf>, 'granting' | 'requireShares'>;

export function sandboxesOf(
  actor: Actor,
  shared: SandboxWiring,
  { secrets, credentials, volumes, images, trusts, granting, requireShares }: UserGrants & Granted,
): Sandboxes {
  const { home, config, store, engineOf, reconciler, loop, networks, users, workspace, now, steadyMs } = shared;
  return new UserSandboxes({
    ...{ store, engineOf, reconciler, now, steadyMs, config, images },
    places: home,
    owner: actor.name,
    get account() {
      return users.accountOf(actor);
    },
    overlayRefusal: shared.refusesOverlay,
    unapplied: workspace.unapplied,
    ...{ granting, requireShares },
    requireHome: () => volumes.requireMountable(),
    credentialGrants: (names) => credentials.grants(names),
    networkRules: (requested, project) =>
      effectiveRules(requested, {
        ...{ defaults: config.network.allow, presets: presetsFor(actor, config.network) },
        ...{ isOwner: actor.isOwner, project, readFile: readProjectFile },
        requireTrust: (file, grants) => trusts.require(file, grants),
      }),
    hostPorts: new HostPorts(actor, store),
    checkSpec: (spec) => secrets.refuseIn(spec),
    networkTrouble: (id) => networks.trouble(id),
    wake: (id) => void loop.wake(id),
  });
}

/** Commands in sandboxes and their output: the same for all users. */
export function commandsOf({ watch, agentServers, engineOf, home, config }: SandboxWiring) {
  return {
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

export function workspaceParts(shared: SandboxWiring, sandboxes: Sandboxes) {
  const { store, engineOf, reconciler, now, steadyMs, home, threads, locks, watch, workspace } = shared;
  const keepBases = (sandbox: Sandbox) => watch.keep(sandbox);
  const { openFolder } = workspace;
  return { store, engineOf, reconciler, now, steadyMs, sandboxes, home, threads, locks, keepBases, openFolder };
}

export function workspacesOf(parts: ReturnType<typeof workspaceParts>) {
  return {
    reviews: new Reviews(parts),
    applies: new Applies(parts),
    agentCommits: new AgentCommits(parts),
    snapshots: new Snapshots(parts),
  };
}

export function networkOf(actor: Actor, shared: SandboxWiring, sandboxes: Sandboxes): UserNetworks {
  const { store, networks, supply, config, now } = shared;
  return new UserNetworks(actor, {
    ...{ store, sandboxes, networks, now, hostPorts: new HostPorts(actor, store) },
    credentialHosts: (box) => supply.hostsOf(box),
    get presets() {
      return presetsFor(actor, config.network);
    },
    registries: () => (actor.isOwner ? hostRegistries() : []),
    get defaults() {
      return config.network.allow;
    },
    get limits() {
      return config.network.limits;
    },
  });
}

interface SwarmWiring extends AgentNeeds {
  readonly liveSwarms: LiveSwarms;
  readonly tasks: Tasks;
}

/** The task files of a user, and the swarms that work on them. */
export function swarmsOf(actor: Actor, parts: WorkspaceParts, { liveSwarms, tasks, ...needs }: SwarmWiring) {
  const { sandboxes, store } = parts;
  const userTasks = new UserTasks(sandboxes, { tasks, workerOf: (place) => workerOf(store, place) });
  const swarms = liveSwarms.of({
    ...{ ...parts, ...needs, userTasks, isOwner: actor.isOwner },
    fetchCommits: (sandbox) => fetchCommits(parts, sandbox),
  });
  return { tasks: userTasks, swarms };
}
