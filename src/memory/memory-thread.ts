/** What runs in a thread of the memory. A commit waits for the disk here, or a search scans vectors, and the daemon goes on. */
import { parentPort } from 'node:worker_threads';
import { MemoryHost } from './memory-host.ts';
import type { ToThread } from './memory-link.ts';

const host = new MemoryHost((message) => parentPort?.postMessage(message));
parentPort?.on('message', (message: ToThread) => host.receive(message));
