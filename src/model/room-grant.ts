/** Rooms that a sandbox has. */
import { Fault } from './fault.ts';
import { printable } from './name.ts';
import { roomNamePattern } from './room.ts';

/** Where rooms appear inside. */
export const roomsFolder = '/rooms';
export const maxRooms = 20;

export interface RoomRequest {
  readonly room: string;
  /** It reads only: it has no inbox. */
  readonly readonly: boolean;
}

/** A room in the spec of a sandbox. */
export interface RoomGrant {
  readonly name: string;
  /** Of the host. */
  readonly folder: string;
  readonly readonly: boolean;
}

/** The folders that a sandbox or a participant outside Carrel writes to are in here, by name. */
export function inboxOf(roomFolder: string, participant: string): string {
  return `${roomFolder}/.carrel/inbox/${participant}`;
}

/** `NAME` or `NAME:ro`. */
export function parseRoomRequest(text: string): RoomRequest {
  const [room = '', ...rest] = text.split(':');
  if (roomNamePattern.test(room) && (rest.length === 0 || (rest.length === 1 && rest[0] === 'ro')))
    return { room, readonly: rest.length === 1 };
  throw new Fault('invalid', `${printable(text)} does not name a room`, {
    hint: 'Write NAME, or NAME:ro for reading only; carrel room ls shows the rooms.',
  });
}

/** Once each; a room that is asked for twice is read-only only if both say so. */
export function distinctRooms(requests: readonly RoomRequest[]): RoomRequest[] {
  const byName = new Map<string, RoomRequest>();
  for (const one of requests) {
    const earlier = byName.get(one.room);
    byName.set(one.room, earlier === undefined ? one : { ...one, readonly: one.readonly && earlier.readonly });
  }
  return [...byName.values()];
}
