/** Constructs what rooms need. */
import { join } from 'node:path';
import { makeScratch } from '../app/home.ts';
import { LiveRooms } from '../app/room/live-rooms.ts';
import { SandboxRooms } from '../app/room/sandbox-rooms.ts';
import { UserRooms } from '../app/room/user-rooms.ts';
import { UserWatches } from '../app/room/user-watches.ts';
import { Watchers } from '../app/room/watchers.ts';
import { Webhooks } from '../app/room/webhooks.ts';
import { type ExecScope, execSpec } from '../app/sandbox/exec.ts';
import type { Sandboxes } from '../app/sandbox/sandboxes.ts';
import type { UserSecrets } from '../app/secret/secrets.ts';
import type { EngineOf } from '../engine/engine.ts';
import { Fault } from '../model/fault.ts';
import type { RoomRecord } from '../model/room.ts';
import { hasEnded } from '../model/sandbox.ts';
import type { Actor } from '../model/user.ts';
import { userHash } from '../model/volume.ts';
import { openRooms } from '../room/rooms.ts';
import type { Secrets } from '../secret/secret.ts';
import type { Resources } from './resources.ts';

/** The parts that all users share. */
export function openRoomParts({ store, owner, config, now, report }: Resources, secrets: Secrets) {
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

export interface WatchParts extends Pick<Resources, 'store' | 'now'> {
  readonly liveRooms: LiveRooms;
  readonly watchers: Watchers;
  readonly sandboxes: () => Sandboxes;
  readonly secrets: UserSecrets;
}

export function watchesOf(
  actor: Actor,
  { store, now, liveRooms, watchers, sandboxes, secrets }: WatchParts,
): UserWatches {
  return new UserWatches(actor, {
    ...{ store, now, watchers },
    openRoom: (record) => liveRooms.open(record),
    requireSandbox: async (name) => void (await sandboxes().current(name)),
    requireSecret: (name) => {
      if (secrets.list().some((secret) => secret.name === name)) return;
      throw new Fault('not_found', `no secret ${name}`, { hint: `Set it with: carrel secret set ${name}` });
    },
  });
}

interface WatchersWiring extends Pick<Resources, 'store' | 'home' | 'now' | 'report'> {
  readonly liveRooms: LiveRooms;
  readonly secrets: Secrets;
  readonly engineOf: EngineOf;
}

export function openWatchers(
  { store, home, now, report, liveRooms, secrets, engineOf }: WatchersWiring,
  scopeOf: (user: string) => Pick<ExecScope, 'sandboxes' | 'commands'>,
): Watchers {
  return new Watchers({
    ...{ store, now, report },
    openRoom: (record) => liveRooms.open(record),
    secret: (owner, name) => secrets.read(owner, name),
    makeScratch: () => makeScratch(home),
    exec: async (owner, name, argv) => {
      const { sandboxes, commands } = scopeOf(owner);
      if (hasEnded((await sandboxes.current(name)).value.status)) await sandboxes.start(name);
      const { value: sandbox } = await sandboxes.current(name);
      await commands.starts(sandbox);
      const spec = execSpec({ command: [...argv], stdin: true }, sandbox, sandboxes.cwd(sandbox));
      const program = await engineOf(sandbox).exec(sandbox.id, sandbox.status.handle, spec);
      return { program, settled: () => commands.ended(sandbox) };
    },
  });
}
