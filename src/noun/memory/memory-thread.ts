/**
 * The entry point of a thread of the memory, in which commits and searches run, so that they do not block the daemon.
 */
import { serveThread } from '../../lib/wire/thread-objects.ts';
import { memoryObjects } from './opened-memory.ts';

serveThread(memoryObjects());
