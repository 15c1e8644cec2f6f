/**
 * The entry point of the thread of the rooms. Commits wait for the disk in this thread, so they do not block the
 * daemon.
 */
import { parentPort } from 'node:worker_threads';
import { RoomHost } from './room-host.ts';
import type { ToRoomThread } from './room-link.ts';

const host = new RoomHost((message) => parentPort?.postMessage(message));
parentPort?.on('message', (message: ToRoomThread) => host.receive(message));
