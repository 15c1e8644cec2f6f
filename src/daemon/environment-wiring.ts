/**
 * Environments and swarms for the hub. They call the routes of the API, so the same audit acts, gates and policy apply.
 */
import type { Scope } from '../app/app.ts';
import { type EnvironmentRoutes, Environments } from '../app/hub/environments.ts';
import type { SwarmRoutes } from '../app/hub/swarm-routes.ts';
import type { CallerMemory } from '../app/memory/caller-memory.ts';
import { type HubMemoryParts, hubMemory } from '../app/memory/hub-caller.ts';
import { CallerRooms, participantOf } from '../app/room/caller-rooms.ts';
import { endWith } from '../app/route.ts';
import { execSpec } from '../app/sandbox/exec.ts';
import type { Detail } from '../audit/audit.ts';
import type { Process } from '../engine/engine.ts';
import { type Caller, socketCaller } from '../hub/hub.ts';
import type { Sandbox } from '../model/sandbox.ts';
import type { RunCommand } from '../model/spoke.ts';
import type { Actor } from '../model/user.ts';
import { type LocalCall, type LocalParts, localCall } from './local-calls.ts';

export interface ActParts
  extends LocalParts,
    Pick<Scope, 'sandboxes' | 'reviews' | 'engineOf' | 'commands' | 'rooms'>,
    HubMemoryParts {}

export function actsOf(
  actor: Actor,
  caller: Caller,
  parts: ActParts,
): { environments: Environments; swarms: SwarmRoutes; rooms: CallerRooms; memory: CallerMemory } {
  const { sandboxes, reviews, commands } = parts;
  const token = caller.name === socketCaller.name ? null : caller.name;
  const by: Detail = token === null ? {} : { token };
  const call = localCall(parts, actor, by);
  const environments = new Environments({
    ...{ sandboxes, reviews, ended: commands.ended },
    routes: environmentRoutes(call),
    exec: (sandbox, program, run) => exec(parts, { user: actor.name, sandbox, program, run, by }),
  });
  const rooms = new CallerRooms((name) => parts.rooms.open(name), participantOf(actor.name, token));
  return { environments, swarms: swarmRoutes(call), rooms, memory: hubMemory(actor, caller, parts) };
}

interface Exec {
  readonly user: string;
  readonly sandbox: Sandbox;
  readonly program: string;
  /** The command that the program runs. */
  readonly run: RunCommand;
  readonly by: Detail;
}

/** Runs a command with the same checks and audit act as the route for commands. */
async function exec(
  { audit, sandboxes, commands, engineOf }: ActParts,
  { user, sandbox, program, run: { env, command }, by }: Exec,
): Promise<Process> {
  const targets = [{ name: sandbox.name, id: sandbox.id }];
  const openAct = audit.begin({ user, as: null, verb: 'sandbox.exec', targets, peer: null });
  try {
    sandboxes.checkCommand(env, command);
    await commands.starts(sandbox);
    const spec = execSpec({ command: [program], stdin: true }, sandbox, sandboxes.cwd(sandbox));
    const process = await engineOf(sandbox).exec(sandbox.id, sandbox.status.handle, spec);
    openAct.end('ok', { detail: { program: command[0] ?? '', ...by } });
    return process;
  } catch (error) {
    endWith(openAct, error);
    throw error;
  }
}

function environmentRoutes(call: LocalCall): EnvironmentRoutes {
  return {
    create: (body) => call('POST /v1/sandboxes', { body }),
    start: (name) => call('POST /v1/sandboxes/{name}/start', { path: { name } }),
    remove: (name, query) =>
      call('DELETE /v1/sandboxes/{name}', { path: { name }, query: { ...query, running: true } }),
    snapshot: (name, label) => call('POST /v1/sandboxes/{name}/snapshots', { path: { name }, body: { label } }),
    fork: (name, names) => call('POST /v1/sandboxes/{name}/fork', { path: { name }, body: { names } }),
    apply: (body) => call('POST /v1/apply', { body }),
  };
}

function swarmRoutes(call: LocalCall): SwarmRoutes {
  return {
    run: (body) => call('POST /v1/swarm/run', { body }),
    show: (project) => call('GET /v1/swarm/show', { query: { project } }),
    stop: (project, names) => call('POST /v1/swarm/stop', { body: { project, names } }),
  };
}
