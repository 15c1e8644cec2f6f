/**
 * The entry point of the thread of the rooms. Commits wait for the disk in this thread, so they do not block the
 * daemon.
 */
import { serveThread } from '../../lib/wire/thread-objects.ts';
import { roomObjects } from './room-objects.ts';

serveThread(roomObjects());
