import { setTimeout as sleep } from 'node:timers/promises';
import { processRef } from '../../lib/process.ts';
import { Fault, isFault } from '../../model/fault.ts';
import type { Context, Invocation } from '../context.ts';
import { connectRunning } from '../daemon.ts';
import { during } from '../output/progress.ts';
import { plain } from '../output/text.ts';

const goneMs = 15_000;
const pollMs = 20;

export default async function down(context: Context, { options }: Invocation<{ all?: boolean }>): Promise<void> {
  const stopped = await during(context.out, 'waiting for the daemon to end', end(context, options.all === true));
  if (context.json) return context.out.document({ running: false, stopped: stopped ?? [] });
  if (stopped === null) return context.out.print('the daemon is not running');
  context.out.print(...stopped.map((name) => `stopped ${plain(name)}`), 'the daemon has ended');
}

/** The names of what was stopped; null when there was no daemon. */
async function end(context: Context, all: boolean): Promise<string[] | null> {
  const client = connectRunning(context);
  try {
    const { pid } = await client.call('status');
    const { stopped } = await client.call('shutdown', { body: { all } });
    await gone(pid);
    return stopped;
  } catch (error) {
    if (isFault(error, 'unavailable')) return null;
    throw error;
  }
}

/** Until the process is gone, so that whoever starts the next daemon finds the home free. */
async function gone(pid: number): Promise<void> {
  const deadline = Date.now() + goneMs;
  // What nobody has reaped yet is gone all the same.
  while (processRef(pid) !== null) {
    if (Date.now() > deadline) throw new Fault('timeout', `the daemon, pid ${pid}, does not end`);
    await sleep(pollMs);
  }
}
