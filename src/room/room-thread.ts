/** What runs in the thread of the rooms. A commit waits for the disk here, and the daemon goes on. */
import { parentPort } from 'node:worker_threads';
import { RoomHost } from './room-host.ts';
import type { ToThread } from './room-link.ts';

const host = new RoomHost((message) => parentPort?.postMessage(message));
parentPort?.on('message', (message: ToThread) => host.receive(message));
