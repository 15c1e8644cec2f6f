/** The entry point of the thread of the memory bank, which waits for the disk and reads folders that agents write. */
import { parentPort } from 'node:worker_threads';
import { BankHost } from './bank-host.ts';
import type { ToBankThread } from './bank-link.ts';

const host = new BankHost((message) => parentPort?.postMessage(message));
parentPort?.on('message', (message: ToBankThread) => host.receive(message));
