/**
 * Which collections are in which database. The server finds a collection by its id in any tenant, so an id is passed on only after it was
 * seen in a list of the right database. An id never moves to another database and is never used again, so what was seen stays true.
 */

import { Fault } from '../../model/fault.ts';
import type { ChromaPlace } from './model.ts';

export interface ListedCollection {
  readonly id: string;
  readonly tenant: string;
  readonly database: string;
}

/** A page of the collections of a database. */
export type ListCollections = (
  place: ChromaPlace,
  offset: number,
  limit: number,
) => Promise<readonly ListedCollection[]>;

const pageSize = 500;
const maxRemembered = 100_000;

export class Collections {
  readonly #list: ListCollections;
  readonly #databaseOf = new Map<string, string>();

  constructor(list: ListCollections) {
    this.#list = list;
  }

  /** Remembers listed collections. Throws if one of them is in another database. */
  learn(place: ChromaPlace, collections: readonly ListedCollection[]): void {
    for (const { id, tenant, database } of collections) {
      if (tenant !== place.tenant || database !== place.database) throw unknown();
      if (this.#databaseOf.size >= maxRemembered) this.#databaseOf.clear();
      this.#databaseOf.set(id, keyOf(place));
    }
  }

  /** `not_found` if the collection is not in the database, with the same words as for one that does not exist. */
  async require(place: ChromaPlace, id: string): Promise<void> {
    if (!this.#databaseOf.has(id)) await this.#look(place);
    if (this.#databaseOf.get(id) !== keyOf(place)) throw unknown();
  }

  async #look(place: ChromaPlace): Promise<void> {
    for (let offset = 0; ; offset += pageSize) {
      const page = await this.#list(place, offset, pageSize);
      this.learn(place, page);
      if (page.length < pageSize) return;
    }
  }
}

/** No name contains the newline that separates the two. */
function keyOf({ tenant, database }: ChromaPlace): string {
  return `${tenant}\n${database}`;
}

function unknown(): Fault {
  return new Fault('not_found', 'the collection does not exist');
}
