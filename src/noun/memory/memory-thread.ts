/**
 * The entry point of a thread of the memory, in which commits and searches run, so that they do not block the daemon.
 */
import { parentPort } from 'node:worker_threads';
import { MemoryHost } from './memory-host.ts';
import type { ToMemoryThread } from './memory-link.ts';

const host = new MemoryHost((message) => parentPort?.postMessage(message));
parentPort?.on('message', (message: ToMemoryThread) => host.receive(message));
