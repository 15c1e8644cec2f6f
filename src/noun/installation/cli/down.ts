import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect, connectRunning } from '../../../client/connect/connect.ts';
import { end } from '../../../client/connect/end-daemon.ts';
import { during } from '../../../client/output/progress.ts';
import { plain } from '../../../client/output/text.ts';
import { Fault } from '../../../model/fault.ts';

/** How many daemons may be killed while they stop sandboxes before `down --all` gives up. */
const maxKilled = 3;

export async function down(context: Context, { options }: Invocation<{ all?: boolean }>): Promise<void> {
  const work = options.all === true ? endAll(context) : end(connectRunning(context), false);
  const stopped = await during(context.out, 'waiting for the daemon to end', work);
  if (context.json) return context.out.document({ running: false, stopped: stopped ?? [] });
  if (stopped === null) return context.out.print('the daemon is not running');
  context.out.print(...stopped.map((name) => `stopped ${plain(name)}`), 'the daemon has ended');
}

/** Sandboxes outlive a daemon that was killed: another daemon is started to stop them. */
async function endAll(context: Context): Promise<string[] | null> {
  const stopped = await end(connectRunning(context), true);
  const isOwnHome = context.socket === null && existsSync(join(context.home, 'carrel.db'));
  if (stopped !== null || !isOwnHome) return stopped;
  for (let killed = 0; killed < maxKilled; killed += 1) {
    const names = await end(connect(context), true);
    if (names !== null) return names.length > 0 ? names : null;
  }
  throw new Fault('unavailable', 'the daemon was killed while it stopped the sandboxes', {
    hint: 'Some may be running still. Again: carrel down --all',
  });
}
