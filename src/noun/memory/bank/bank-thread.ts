/** The entry point of the thread of the memory bank, which waits for the disk and reads folders that agents write. */
import { serveThread } from '../../../lib/wire/thread-objects.ts';
import { bankObjects } from './opened-bank.ts';

serveThread(bankObjects());
