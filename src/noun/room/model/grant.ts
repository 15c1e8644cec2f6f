/** Grants of rooms to a sandbox. */
import { Fault } from '../../../model/fault.ts';
import { distinctBy, type GrantKind, type MountPlaces } from '../../../model/grant.ts';
import type { Mount } from '../../../model/mount.ts';
import { printable } from '../../../model/name.ts';
import { roomNamePattern, roomNameRule } from './room.ts';

/** The folder inside in which rooms appear. */
export const roomsFolder = '/rooms';

export interface RoomGrantRequest {
  readonly room: string;
  /** True: the sandbox only reads and has no inbox. */
  readonly readonly?: boolean | undefined;
}

/** A room in the spec of a sandbox. */
export interface RoomGrant {
  readonly name: string;
  /** The folder of the room on the host. */
  readonly folder: string;
  readonly readonly: boolean;
}

/** The inbox of a sandbox or of a participant outside of Carrel: the folder to which it writes. */
export function inboxOf(roomFolder: string, participant: string): string {
  return `${roomFolder}/.carrel/inbox/${participant}`;
}

/** `NAME` or `NAME:ro`. */
export function parseRoomRequest(text: string): RoomGrantRequest {
  const [room = '', ...rest] = text.split(':');
  if (roomNamePattern.test(room) && (rest.length === 0 || (rest.length === 1 && rest[0] === 'ro')))
    return { room, readonly: rest.length === 1 };
  throw new Fault('invalid', `${printable(text)} does not name a room`, {
    hint: 'Write NAME, or NAME:ro for reading only; carrel room ls shows the rooms.',
  });
}

const nameOf = ({ room }: RoomGrantRequest) => room;

export const roomGrantKind: GrantKind<RoomGrantRequest, RoomGrant, 'rooms', 'name' | 'readonly'> = {
  request: { room: { pattern: roomNamePattern, rule: roomNameRule }, readonly: { optional: 'boolean' } },
  most: 20,
  option: {
    flags: '--room <NAME>',
    summary: 'mount a room at /rooms/NAME, to read and to post; add :ro to read only; may be repeated',
    completes: 'rooms',
    isForAgents: true,
  },
  declared: {
    ...{ key: 'rooms', word: 'room', maxText: 80 },
    description:
      'Rooms of yours that it gets at /rooms/NAME, as NAME, or NAME:ro to read only. `carrel up` creates those that are missing and removes none. Default: none.',
    example: ['team', 'news:ro'],
    texts: (requests) => requests.map(({ room, readonly }) => `${room}${readonly ? ':ro' : ''}`).sort(),
  },
  parse: parseRoomRequest,
  distinct: (requests) => distinctBy(requests, nameOf),
  nameOf,
  view: { name: 'text', readonly: 'boolean' },
  metadata: ({ name, readonly }) => ({ name, readonly }),
  mounts: mountsOf,
  env: { ROOMS_DIR: roomsFolder },
  server: { name: 'rooms', program: 'carrel-room', args: ['mcp'] },
};

/**
 * Mounts the room read-only, except for an inbox of this sandbox alone, which determines the sender. An empty folder
 * covers the state of the daemon and the inboxes of others. `app/room` makes the inbox before each start.
 */
function mountsOf({ name, folder, readonly }: RoomGrant, { sandboxName, emptyFolder }: MountPlaces): Mount[] {
  const target = `${roomsFolder}/${name}`;
  const empty = { kind: 'bind', source: emptyFolder, readonly: true } as const;
  const inbox = { kind: 'bind', source: inboxOf(folder, sandboxName), readonly: false, own: true } as const;
  return [
    { kind: 'bind', source: folder, target, readonly: true, mapOwner: true, daemonOnly: true },
    { ...empty, target: `${target}/.carrel` },
    { ...(readonly ? empty : inbox), target: `${target}/inbox` },
  ];
}
