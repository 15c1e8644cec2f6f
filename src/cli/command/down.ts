import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../api/client.ts';
import { processRef } from '../../lib/process.ts';
import { Fault, isFault } from '../../model/fault.ts';
import type { Context, Invocation } from '../context.ts';
import { connect, connectRunning } from '../daemon.ts';
import { during } from '../output/progress.ts';
import { plain } from '../output/text.ts';

const goneMs = 15_000;
const pollMs = 20;
/** How many daemons may be killed while they stop sandboxes before `down --all` gives up. */
const maxKilled = 3;

export default async function down(context: Context, { options }: Invocation<{ all?: boolean }>): Promise<void> {
  const work = options.all === true ? endAll(context) : end(connectRunning(context), false);
  const stopped = await during(context.out, 'waiting for the daemon to end', work);
  if (context.json) return context.out.document({ running: false, stopped: stopped ?? [] });
  if (stopped === null) return context.out.print('the daemon is not running');
  context.out.print(...stopped.map((name) => `stopped ${plain(name)}`), 'the daemon has ended');
}

/** The names of what was stopped; null when there was no daemon, or it died meanwhile. */
export async function end(client: Client, all: boolean): Promise<string[] | null> {
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

/** Sandboxes outlive a daemon that was killed: then another one is started to stop them. */
async function endAll(context: Context): Promise<string[] | null> {
  const stopped = await end(connectRunning(context), true);
  const isOurs = context.socket === null && existsSync(join(context.home, 'carrel.db'));
  if (stopped !== null || !isOurs) return stopped;
  for (let killed = 0; killed < maxKilled; killed += 1) {
    const names = await end(connect(context), true);
    if (names !== null) return names.length > 0 ? names : null;
  }
  throw new Fault('unavailable', 'the daemon was killed while it stopped the sandboxes', {
    hint: 'Some may be running still. Again: carrel down --all',
  });
}

/** Until the process is gone, so that the next daemon finds the home free. */
async function gone(pid: number): Promise<void> {
  const deadline = Date.now() + goneMs;
  // A zombie that its parent has not reaped holds nothing any more.
  while (processRef(pid) !== null) {
    if (Date.now() > deadline) throw new Fault('timeout', `the daemon, pid ${pid}, does not end`);
    await sleep(pollMs);
  }
}
