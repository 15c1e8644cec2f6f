/** Ends a daemon and waits until its process is gone. */
import { setTimeout as sleep } from 'node:timers/promises';
import { processRef } from '../../lib/process/process.ts';
import { Fault, isFault } from '../../model/fault.ts';
import type { Client } from '../client.ts';

const goneMs = 15_000;
const pollMs = 20;

/** The names of the stopped sandboxes; null: no daemon answered, or it died meanwhile. */
export async function end(client: Client, all: boolean): Promise<string[] | null> {
  try {
    const { pid } = await client.call('GET /v1/status');
    const { stopped } = await client.call('POST /v1/shutdown', { body: { all } });
    await gone(pid);
    return stopped;
  } catch (error) {
    if (isFault(error, 'unavailable')) return null;
    throw error;
  }
}

/** Waits until the process is gone, so that the next daemon can lock the home. */
async function gone(pid: number): Promise<void> {
  const deadline = Date.now() + goneMs;
  // A zombie that its parent has not reaped counts as gone: it holds no lock.
  while (processRef(pid) !== null) {
    if (Date.now() > deadline) {
      throw new Fault('timeout', `the daemon, pid ${pid}, does not end`, {
        hint: `Try again, or kill it: kill -9 ${pid}. Sandboxes go on. daemon.log in the home says what it does.`,
      });
    }
    await sleep(pollMs);
  }
}
