import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Mount } from '../model/mount.ts';
import { inboxOf, type RoomGrant, roomsFolder } from '../model/room-grant.ts';
import type { Sandbox } from '../model/sandbox.ts';
import type { Hook, Places } from './launch.ts';

/**
 * Rooms: all of it read-only, except for an inbox of this sandbox alone, which decides who the sender is. The state of the daemon and the
 * inboxes of others are covered by an empty folder. `app/room` makes the inbox before each start.
 */
export const rooms: Hook = {
  surroundings: (sandbox, places) => {
    const granted = sandbox.spec.rooms ?? [];
    if (granted.length === 0) return {};
    return {
      mounts: granted.flatMap((room) => mountsOf(room, sandbox, places)),
      env: { ROOMS_DIR: roomsFolder },
    };
  },
  prepare: ({ id, spec }, places) => {
    if (spec.rooms?.length) mkdirSync(emptyFolder(id, places), { recursive: true, mode: 0o555 });
  },
};

function mountsOf({ name, folder, readonly }: RoomGrant, sandbox: Sandbox, places: Places): Mount[] {
  const target = `${roomsFolder}/${name}`;
  const empty = { kind: 'bind', source: emptyFolder(sandbox.id, places), readonly: true } as const;
  const inbox = { kind: 'bind', source: inboxOf(folder, sandbox.name), readonly: false, own: true } as const;
  return [
    { kind: 'bind', source: folder, target, readonly: true, mapOwner: true, daemonOnly: true },
    { ...empty, target: `${target}/.carrel` },
    { ...(readonly ? empty : inbox), target: `${target}/inbox` },
  ];
}

function emptyFolder(id: string, places: Places): string {
  return join(places.sandbox(id), 'empty');
}
