/**
 * What the daemon does for its users, one folder a noun. `NOUN/NOUN.ts` declares the noun as `kernel/server/route.ts` describes:
 * routes with schemas, audit act and handler, recovery at start, rows of the doctor. A noun is enabled by its line in
 * this list.
 *
 * The daemon makes one scope per user, with everything that the handlers of all nouns use. Handlers get nothing of
 * another user: parts that users share are in the scope only as the few functions that a noun declares.
 * At start it calls `recover` of each noun in the order of the list, before it answers the first request. Then it calls
 * `start` of each noun, and the server calls handlers concurrently; each noun locks what must not overlap. A noun gets the objects of another noun
 * from the wiring, as small interfaces that it declares itself.
 */
import type { ProbeRow } from '../kernel/engine/engine.ts';
import type { Noun, Route } from '../kernel/server/route.ts';
import type { ConfigSection } from '../kernel/settings/section.ts';
import { agent } from './agent/app/app.ts';
import { mcp } from './agent/app/mcp/mcp.ts';
import { hub } from './hub/app/app.ts';
import { image } from './image/app/app.ts';
import { installation } from './installation/app/app.ts';
import { audit } from './installation/app/audit/audit.ts';
import { disk } from './installation/app/disk/disk.ts';
import { doctor } from './installation/app/doctor/doctor.ts';
import { engine } from './installation/app/engine/engine.ts';
import { event } from './installation/app/event/event.ts';
import { memory } from './memory/app/app.ts';
import { bank } from './memory/app/bank/bank.ts';
import { network } from './network/app/app.ts';
import { credential } from './network/app/credential/credential.ts';
import { project } from './project/app/app.ts';
import { fleet } from './project/app/fleet/fleet.ts';
import { room } from './room/app/app.ts';
import { sandbox } from './sandbox/app/app.ts';
import { session } from './session/app/app.ts';
import { share } from './share/app/app.ts';
import { swarm } from './swarm/app/app.ts';
import { task } from './swarm/app/task/task.ts';
import { user } from './user/app/app.ts';
import { secret } from './user/app/secret/secret.ts';
import { volume } from './volume/app/app.ts';
import { workspace } from './workspace/app/app.ts';

export const nouns = [
  engine,
  secret,
  credential,
  volume,
  sandbox,
  share,
  workspace,
  network,
  disk,
  image,
  fleet,
  task,
  swarm,
  user,
  event,
  audit,
  doctor,
  installation,
  project,
  hub,
  room,
  session,
  agent,
  memory,
  bank,
  mcp,
] as const;

type AnyNoun = (typeof nouns)[number];
/** The intersection of the members of a union. */
type Joined<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer All) => void ? All : never;
type ScopeOf<N> = N extends Noun<infer S> ? S : never;
type SectionOf<N> = N extends { readonly config?: infer C } ? Extract<C, readonly ConfigSection[]>[number] : never;
type ValuesOf<S> = S extends ConfigSection<infer V> ? V : never;

/** All that one user can reach. */
export type Scope = Joined<ScopeOf<AnyNoun>>;

/** The owner's settings: the values of all sections of config.yaml. */
export type Config = Readonly<Joined<ValuesOf<SectionOf<AnyNoun>>>>;

/** Every route, for the types of clients. */
export type Declared = AnyNoun['routes'][number];

export const sections: readonly ConfigSection[] = nouns.flatMap((noun): readonly ConfigSection[] => noun.config ?? []);

export const routes: readonly Route[] = nouns.flatMap((noun): readonly Route[] => noun.routes);

export async function recoverAll(scope: Scope): Promise<void> {
  for (const noun of nouns as readonly Noun<Scope>[]) await noun.recover?.(scope);
}

/** `observed` resolves when all sandboxes are observed. */
export function startAll(scope: Scope, observed: Promise<unknown>): void {
  for (const noun of nouns as readonly Noun<Scope>[]) noun.start?.(scope, observed);
}

/** Nouns are examined one after the other: what a proof is about to remove must not be reported as a leftover. */
export async function examineAll(scope: Scope): Promise<ProbeRow[]> {
  const rows: ProbeRow[] = [];
  for (const noun of nouns as readonly Noun<Scope>[]) rows.push(...((await noun.examine?.(scope)) ?? []));
  return rows;
}
