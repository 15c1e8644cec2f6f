/** What one user can reach. Names are a user's own: another's sandbox of the same name does not exist here. */

import type { CredentialDesk } from '../app/credential/credentials.ts';
import type { FleetDesk } from '../app/fleet/fleets.ts';
import type { TrustDesk } from '../app/fleet/trusts.ts';
import type { ImageDesk } from '../app/image/images.ts';
import type { NetworkDesk } from '../app/network/desk.ts';
import type { Sandboxes } from '../app/sandbox/sandboxes.ts';
import type { SecretDesk } from '../app/secret/secrets.ts';
import type { SwarmDesk } from '../app/swarm/swarms.ts';
import type { TaskDesk } from '../app/task/tasks.ts';
import type { VolumeDesk } from '../app/volume/volumes.ts';
import type { Applies } from '../app/workspace/applies.ts';
import type { Reviews } from '../app/workspace/reviews.ts';
import type { Snapshots } from '../app/workspace/snapshots.ts';
import type { Actor } from '../model/user.ts';

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
