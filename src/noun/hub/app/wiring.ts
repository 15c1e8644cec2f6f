/** Constructs the projects and the hub of a user, and what the tools of a caller use besides spokes. */

import type { Detail } from '../../../kernel/audit/audit.ts';
import type { EngineOf } from '../../../kernel/engine/engine.ts';
import { type LocalCall, type LocalParts, localCall } from '../../../kernel/server/local-calls.ts';
import type { Store } from '../../../kernel/store/store.ts';
import { packageVersion } from '../../../lib/file/package.ts';
import type { Actor } from '../../../model/user.ts';
import { type Config, routes, type Scope } from '../../app.ts';
import type { CallerMemory } from '../../memory/app/caller-memory.ts';
import { type HubMemoryParts, hubMemory } from '../../memory/app/hub-caller.ts';
import { UserProjects } from '../../project/app/user-projects.ts';
import type { Projects } from '../../project/project.ts';
import { CallerRooms, participantOf } from '../../room/app/caller-rooms.ts';
import { execSpec } from '../../sandbox/app/exec.ts';
import type { Sandbox } from '../../sandbox/model.ts';
import { type HubCaller, socketCaller } from '../hub.ts';
import type { CallRoute, ToolRoutes } from './call-route.ts';
import { Edits } from './edits.ts';
import { type EnvironmentParts, Environments } from './environments.ts';
import { Spokes } from './spoke/spokes.ts';
import { UserHub } from './user-hub.ts';

interface ActParts
  extends Omit<LocalParts, 'routes'>,
    Pick<Scope, 'sandboxes' | 'reviews' | 'commands' | 'rooms'>,
    Pick<EnvironmentParts, 'exec'>,
    HubMemoryParts {}

export interface HubParts extends Omit<ActParts, 'projects' | 'exec'> {
  readonly engineOf: EngineOf;
  readonly store: Store;
  readonly now: () => string;
  readonly config: Pick<Config, 'hub'>;
  /** Records the base of paths that a command may have changed. */
  readonly keepBases: (sandbox: Sandbox) => Promise<void>;
}

export function hubOf(actor: Actor, parts: HubParts): { projects: Projects; hub: UserHub } {
  const { store, audit, sandboxes, engineOf, now, keepBases, config } = parts;
  const { name: user } = actor;
  const exec = (sandbox: Sandbox, command: readonly string[]) => {
    const spec = execSpec({ command: [...command], stdin: true }, sandbox, sandboxes.cwd(sandbox));
    return engineOf(sandbox).exec(sandbox.id, sandbox.status.handle, spec);
  };
  const projects: Projects = new UserProjects({
    ...{ store, user, now, sandboxes },
    serverNames: () => config.hub.languageServers.map(({ name }) => name),
    settle: (id) => edits.settle(id),
    spokes: { isHealthy: (id) => spokes.isHealthy(id), release: (id) => spokes.release(id) },
  });
  const spokes = new Spokes({
    sandboxes,
    exec,
    ended: keepBases,
    isInUse: (sandbox) => parts.commands.open.has(sandbox),
    setup: ({ languages = null }) => ({ languages, servers: config.hub.languageServers }),
    observed: (project, state, reason) => projects.observed(project, state, reason),
    idleMs: () => config.hub.idleMinutes * 60_000,
    nowMs: () => performance.now(),
  });
  const edits: Edits = new Edits({ store, user, now, spokes, projects });
  spokes.adopt(projects.all());
  const acts = (caller: HubCaller) => actsOf(actor, caller, { ...parts, exec, projects: () => projects.all() });
  const version = packageVersion();
  return { projects, hub: new UserHub({ user, version, audit, spokes, edits, projects, actsOf: acts }) };
}

/** The routes whose types are not those that tools expect. The compiler checks one route at a time only. */
type Unfit = {
  [K in keyof ToolRoutes]: LocalCall extends (key: K, request: ToolRoutes[K][0]) => Promise<ToolRoutes[K][1]>
    ? never
    : K;
}[keyof ToolRoutes];
type CheckedCall = [Unfit] extends [never] ? CallRoute : Unfit;

function actsOf(
  actor: Actor,
  caller: HubCaller,
  parts: ActParts,
): { environments: Environments; callRoute: CallRoute; rooms: CallerRooms; memory: CallerMemory } {
  const { audit, sandboxes, reviews, commands, exec } = parts;
  const token = caller.name === socketCaller.name ? null : caller.name;
  const by: Detail = token === null ? {} : { token };
  const callRoute: CheckedCall = localCall({ ...parts, routes }, actor, by) as CallRoute;
  const environments = new Environments({
    ...{ sandboxes, reviews, commands, exec, audit, by },
    ...{ call: callRoute, user: actor.name },
  });
  const rooms = new CallerRooms((name) => parts.rooms.open(name), participantOf(actor.name, token));
  return { environments, callRoute, rooms, memory: hubMemory(actor, caller, parts) };
}
