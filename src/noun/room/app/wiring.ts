/** Constructs what rooms need. */
import { join } from 'node:path';
import type { ConfiguredKernel } from '../../../kernel/daemon/resources.ts';
import { makeScratch } from '../../../kernel/home/home.ts';
import type { Actor } from '../../../model/user.ts';
import { type ExecScope, startIn } from '../../sandbox/app/exec.ts';
import type { Sandboxes } from '../../sandbox/sandbox.ts';
import type { UserSecrets } from '../../user/app/secret/user-secrets.ts';
import type { Secrets } from '../../user/secret/secret.ts';
import { userHash } from '../../volume/model.ts';
import type { RoomRecord } from '../model/room.ts';
import { openRooms } from '../rooms.ts';
import { LiveRooms } from './live-rooms.ts';
import { SandboxRooms } from './sandbox-rooms.ts';
import { UserRooms } from './user-rooms.ts';
import { RoomWatchers } from './watch/room-watchers.ts';
import { UserWatches } from './watch/user-watches.ts';
import { Webhooks } from './webhooks.ts';

/** The parts that all users share. */
export function openRoomParts({ store, owner, config, now, report }: ConfiguredKernel, secrets: Secrets) {
  const liveRooms = new LiveRooms({
    ...{ store, rooms: openRooms(undefined, report), limits: () => config.roomLimits, report },
  });
  const openRoom = (record: RoomRecord) => liveRooms.open(record);
  const sandboxRooms = new SandboxRooms({
    find: (user, name) => store.find('room', user, name)?.value ?? null,
    open: openRoom,
  });
  const webhooks = new Webhooks({
    ...{ store, owner, now, openRoom },
    hooks: () => config.webhooks,
    secret: (name) => secrets.read(owner, name),
  });
  return { liveRooms, sandboxRooms, webhooks };
}

interface Parts extends ConfiguredKernel {
  readonly liveRooms: LiveRooms;
}

export function roomsOf(actor: Actor, { store, home, liveRooms, now }: Parts): UserRooms {
  return new UserRooms(actor, {
    ...{ store, now, live: liveRooms, home: home.home },
    folder: join(home.rooms, userHash(actor.name)),
    makeScratch: () => makeScratch(home),
  });
}

export interface WatchParts extends ConfiguredKernel {
  readonly liveRooms: LiveRooms;
  readonly watchers: RoomWatchers;
  readonly sandboxes: () => Sandboxes;
  readonly secrets: UserSecrets;
}

export function watchesOf(
  actor: Actor,
  { store, now, liveRooms, watchers, sandboxes, secrets }: WatchParts,
): UserWatches {
  return new UserWatches(actor, {
    ...{ store, now, watchers, sandboxes, secrets },
    openRoom: (record) => liveRooms.open(record),
  });
}

interface WatchersWiring extends ConfiguredKernel {
  readonly liveRooms: LiveRooms;
  readonly secrets: Secrets;
}

export function openWatchers(
  { store, home, now, report, liveRooms, secrets }: WatchersWiring,
  scopeOf: (user: string) => Pick<ExecScope, 'sandboxes' | 'commands' | 'engineOf'>,
): RoomWatchers {
  return new RoomWatchers({
    ...{ store, now, report, scopeOf },
    openRoom: (record) => liveRooms.open(record),
    secret: (owner, name) => secrets.read(owner, name),
    makeScratch: () => makeScratch(home),
    startIn: (sandbox, command) => startIn(scopeOf(sandbox.spec.user), sandbox, command),
  });
}
