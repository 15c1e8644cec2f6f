/** What the daemon and the thread of the rooms send each other. */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { dist } from '../lib/package.ts';
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

export type FromThread =
  | { readonly call: number; readonly value: unknown }
  | { readonly call: number; readonly fault: FaultBody }
  /** What lies in an inbox cannot be taken now. */
  | { readonly folder: string; readonly trouble: FaultBody }
  /** Before the answers to the posts. */
  | { readonly folder: string; readonly committed: readonly Message[] };

export interface Link {
  send(message: ToThread): void;
  end(): Promise<unknown>;
}

export interface Receiver {
  received(message: FromThread): void;
  /** The thread ended without being asked to. */
  broken(error: unknown): void;
}

/** The thread of the rooms. It keeps no process alive by itself. */
export function startRoomThread(receiver: Receiver): Link {
  const worker = new Worker(join(dist, 'room/room-thread.js'), { trackUnmanagedFds: false });
  worker.unref();
  let isAsked = false;
  worker.on('message', (message: FromThread) => receiver.received(message));
  worker.on('error', (error) => receiver.broken(error));
  worker.on('exit', () => isAsked || receiver.broken(new Error('the thread of the rooms ended')));
  return {
    send: (message) => worker.postMessage(message),
    end: () => {
      isAsked = true;
      return worker.terminate();
    },
  };
}
