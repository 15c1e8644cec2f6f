/** What the daemon and the thread of the rooms send each other. */
import type { ThreadAnswer } from '../../lib/wire/thread-calls.ts';
import { startThread, type ThreadLink, type ThreadReceiver } from '../../lib/wire/thread-link.ts';
import type { FaultBody } from '../../model/fault.ts';
import type { RoomMessage } from './model/room.ts';
import type { OpenedRoom } from './opened-room.ts';
import type { RoomAbout } from './room.ts';

/** The calls that a room answers, besides `open`. */
export type RoomCall = {
  [K in keyof OpenedRoom]: OpenedRoom[K] extends (...args: never[]) => Promise<unknown> ? K : never;
}[keyof OpenedRoom];

export type ToRoomThread =
  | { readonly call: number; readonly folder: string; readonly open: RoomAbout }
  | { readonly call: number; readonly folder: string; readonly method: RoomCall; readonly args: readonly unknown[] };

/** What the thread sends of its own accord. */
export type Pushed =
  /** Files of an inbox cannot be taken now. */
  | { readonly folder: string; readonly trouble: FaultBody }
  /** Sent before the answers to the posts. */
  | { readonly folder: string; readonly committed: readonly RoomMessage[] };

export type FromRoomThread = ThreadAnswer | Pushed;

export type RoomLink = ThreadLink<ToRoomThread>;
export type RoomReceiver = ThreadReceiver<FromRoomThread>;

export const threadName = 'the thread of the rooms';

export function startRoomThread(receiver: RoomReceiver): RoomLink {
  return startThread('room-thread', threadName, receiver);
}
