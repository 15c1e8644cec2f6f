/** Constructs what rooms need. */
import { join } from 'node:path';
import { makeScratch } from '../app/home.ts';
import type { LiveRooms } from '../app/room/live-rooms.ts';
import { UserRooms } from '../app/room/user-rooms.ts';
import type { Actor } from '../model/user.ts';
import { userHash } from '../model/volume.ts';
import type { Resources } from './resources.ts';

interface Parts extends Pick<Resources, 'store' | 'home' | 'now'> {
  readonly liveRooms: LiveRooms;
}

export function roomsOf(actor: Actor, { store, home, liveRooms, now }: Parts): UserRooms {
  return new UserRooms(actor, {
    ...{ store, now, live: liveRooms, home: home.home },
    folder: join(home.rooms, userHash(actor.name)),
    makeScratch: () => makeScratch(home),
    usedBy: (room) =>
      store
        .list('sandbox', actor.name)
        .filter(({ value }) => value.spec.rooms?.some(({ name }) => name === room))
        .map(({ name }) => name),
  });
}
