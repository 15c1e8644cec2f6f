/** What one user can reach. Names are a user's own: another's sandbox of the same name does not exist here. */
import { Fault } from '../model/fault.ts';
import type { Actor } from '../model/user.ts';
import type { Applies } from './applies.ts';
import type { CredentialDesk } from './credentials.ts';
import type { FleetDesk } from './fleets.ts';
import type { ImageDesk } from './images.ts';
import type { NetworkDesk } from './network-desk.ts';
import type { Reviews } from './reviews.ts';
import type { Sandboxes } from './sandboxes.ts';
import type { SecretDesk } from './secrets.ts';
import type { Snapshots } from './snapshots.ts';
import type { SwarmDesk } from './swarms.ts';
import type { TaskDesk } from './tasks.ts';
import type { TrustDesk } from './trusts.ts';
import type { VolumeDesk } from './volumes.ts';

export interface Scope {
  readonly actor: Actor;
  readonly sandboxes: Sandboxes;
  readonly reviews: Reviews;
  readonly applies: Applies;
  readonly snapshots: Snapshots;
  readonly secrets: SecretDesk;
  readonly credentials: CredentialDesk;
  readonly volumes: VolumeDesk;
  readonly network: NetworkDesk;
  readonly tasks: TaskDesk;
  readonly swarms: SwarmDesk;
  readonly trusts: TrustDesk;
  readonly fleets: FleetDesk;
  readonly images: ImageDesk;
}

export class Scopes {
  readonly #make: (actor: Actor) => Scope;
  readonly #made = new Map<string, Scope>();

  constructor(make: (actor: Actor) => Scope) {
    this.#make = make;
  }

  of(actor: Actor): Scope {
    const scope = this.#made.get(actor.name) ?? this.#make(actor);
    this.#made.set(actor.name, scope);
    return scope;
  }
}

export function requireOwner({ isOwner }: Actor): void {
  if (!isOwner) throw new Fault('denied', 'only the owner of this installation may do that');
}
