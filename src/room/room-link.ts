/** What the daemon and the thread of the rooms send each other. */
import type { ThreadAnswer } from '../lib/thread-calls.ts';
import { startThread, type ThreadLink, type ThreadReceiver } from '../lib/thread-link.ts';
import type { FaultBody } from '../model/fault.ts';
import type { Message } from '../model/room.ts';
import type { OpenedRoom } from './opened-room.ts';
import type { RoomAbout } from './room.ts';

/** The calls that a room answers, besides `open`. */
export type RoomCall = {
  [K in keyof OpenedRoom]: OpenedRoom[K] extends (...args: never[]) => Promise<unknown> ? K : never;
}[keyof OpenedRoom];

export type ToThread =
  | { readonly call: number; readonly folder: string; readonly open: RoomAbout }
  | { readonly call: number; readonly folder: string; readonly method: RoomCall; readonly args: readonly unknown[] };

/** What the thread sends of its own accord. */
export type Pushed =
  /** Files of an inbox cannot be taken now. */
  | { readonly folder: string; readonly trouble: FaultBody }
  /** Sent before the answers to the posts. */
  | { readonly folder: string; readonly committed: readonly Message[] };

export type FromThread = ThreadAnswer | Pushed;

export type Link = ThreadLink<ToThread>;
export type Receiver = ThreadReceiver<FromThread>;

export const threadName = 'the thread of the rooms';

export function startRoomThread(receiver: Receiver): Link {
  return startThread('room/room-thread.js', threadName, receiver);
}
