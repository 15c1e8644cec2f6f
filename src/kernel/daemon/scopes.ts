import type { Actor } from '../../model/user.ts';

/** One scope per user, made when it is first needed. */
export class Scopes<S> {
  readonly #make: (actor: Actor) => S;
  readonly #made = new Map<string, S>();

  constructor(make: (actor: Actor) => S) {
    this.#make = make;
  }

  of(actor: Actor): S {
    const scope = this.#made.get(actor.name) ?? this.#make(actor);
    this.#made.set(actor.name, scope);
    return scope;
  }
}
