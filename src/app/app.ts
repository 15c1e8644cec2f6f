/**
 * What the daemon does for its users, one folder a noun. `NOUN/NOUN.ts` declares the noun as `route.ts` describes: routes
 * with schemas, audit act and handler, recovery at start, rows of the doctor. A noun takes part by its line in this list.
 *
 * The daemon makes one scope a user, with everything that the handlers of all nouns name, and never a thing of another user.
 * At start it calls `recover` of each noun in the order of the list, before it answers the first request. Then the server calls
 * handlers, many at a time; what must not overlap is locked by the noun itself. Nouns meet in small interfaces: a noun imports
 * from another one types and its contract file, nothing else.
 */
import { audit } from './audit/audit.ts';
import { credential } from './credential/credential.ts';
import { doctor } from './doctor/doctor.ts';
import { engine } from './engine/engine.ts';
import { event } from './event/event.ts';
import { fleet } from './fleet/fleet.ts';
import { image } from './image/image.ts';
import { installation } from './installation/installation.ts';
import { network } from './network/network.ts';
import type { Noun, Route } from './route.ts';
import { sandbox } from './sandbox/sandbox.ts';
import { secret } from './secret/secret.ts';
import { swarm } from './swarm/swarm.ts';
import { task } from './task/task.ts';
import { user } from './user/user.ts';
import { volume } from './volume/volume.ts';
import { workspace } from './workspace/workspace.ts';

export const nouns = [
  installation,
  doctor,
  engine,
  event,
  audit,
  user,
  secret,
  credential,
  volume,
  task,
  swarm,
  fleet,
  image,
  sandbox,
  workspace,
  network,
] as const;

type AnyNoun = (typeof nouns)[number];
type Joined<N> = (N extends Noun<infer S> ? (scope: S) => void : never) extends (scope: infer All) => void
  ? All
  : never;

/** All that one user can reach. */
export type Scope = Joined<AnyNoun>;

/** Every route, for the types of clients. */
export type Declared = AnyNoun['routes'][number];

export const routes: readonly Route[] = nouns.flatMap((noun): readonly Route[] => noun.routes);
