/** The rooms of a user for a caller of the hub: the user itself, or a token, which is a participant of its own. */

import { Fault } from '../../../model/fault.ts';
import { ulidPattern } from '../../../model/ulid.ts';
import type { HubRooms } from '../../hub/app/hub-rooms.ts';
import type { Participant, RoomMessage } from '../model/room.ts';
import type { Room } from '../room.ts';

export class CallerRooms implements HubRooms {
  readonly #open: (room: string) => Promise<Room>;
  readonly #from: Participant;

  constructor(open: (room: string) => Promise<Room>, from: Participant) {
    this.#open = open;
    this.#from = from;
  }

  async post(name: string, { body, replyTo, key }: Parameters<HubRooms['post']>[1]): Promise<RoomMessage> {
    const room = await this.#open(name);
    if (replyTo !== null && (!ulidPattern.test(replyTo) || (await room.get(replyTo)) === null))
      throw new Fault('not_found', `the room ${name} has no message ${replyTo}`, {
        hint: `To see the ids: carrel room read ${name} --peek`,
      });
    const keyed = key === null ? {} : { key: `hub:${this.#from.name}:${key}` };
    return room.post({ from: this.#from, via: 'hub', body, replyTo, ...keyed });
  }

  async read(name: string, after: string | null, limit: number): Promise<readonly RoomMessage[]> {
    const room = await this.#open(name);
    return room.read({ after, limit, newest: after === null });
  }

  async follow(
    name: string,
    after: string | null,
    limit: number,
    signal: AbortSignal,
  ): Promise<readonly RoomMessage[]> {
    const room = await this.#open(name);
    const start = after ?? (await room.status()).lastId;
    for await (const first of room.follow(start, signal)) {
      const rest = limit > 1 ? await room.read({ after: first.id, limit: limit - 1 }) : [];
      return [first, ...rest];
    }
    return [];
  }
}

/** A token is outside Carrel, and its id is its name: no token can post as the user or as another token. */
export function participantOf(user: string, token: string | null): Participant {
  return token === null ? { kind: 'person', name: user } : { kind: 'outside', name: `token-${token}` };
}
