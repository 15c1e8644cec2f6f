/** Constructs what the tools of a caller of the hub use besides spokes. */

import type { Detail } from '../../../kernel/audit/audit.ts';
import { type LocalCall, type LocalParts, localCall } from '../../../kernel/server/local-calls.ts';
import type { Actor } from '../../../model/user.ts';
import { routes, type Scope } from '../../app.ts';
import type { CallerMemory } from '../../memory/app/caller-memory.ts';
import { type HubMemoryParts, hubMemory } from '../../memory/app/hub-caller.ts';
import { CallerRooms, participantOf } from '../../room/app/caller-rooms.ts';
import { type HubCaller, socketCaller } from '../hub.ts';
import type { CallRoute, ToolRoutes } from './call-route.ts';
import { type EnvironmentParts, Environments } from './environments.ts';

export interface ActParts
  extends Omit<LocalParts, 'routes'>,
    Pick<Scope, 'sandboxes' | 'reviews' | 'commands' | 'rooms'>,
    Pick<EnvironmentParts, 'exec'>,
    HubMemoryParts {}

/** The routes whose types are not those that tools expect. The compiler checks one route at a time only. */
type Unfit = {
  [K in keyof ToolRoutes]: LocalCall extends (key: K, asked: ToolRoutes[K][0]) => Promise<ToolRoutes[K][1]> ? never : K;
}[keyof ToolRoutes];
type CheckedCall = [Unfit] extends [never] ? CallRoute : Unfit;

export function actsOf(
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
