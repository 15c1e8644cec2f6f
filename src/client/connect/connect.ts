/**
 * Makes the clients by which commands reach the daemon.
 *
 * `connect` starts a daemon when none answers (`start-daemon.ts`); `connectRunning` starts none, and its calls then fail
 * with `unavailable`. A daemon of another account, at a socket that the user named, is never started here; the token for
 * it comes from the environment or a file (`access.ts`). For a daemon of another build, a restart is offered
 * (`older-daemon.ts`).
 */

import { ownBuild } from '../../lib/file/package.ts';
import type { Context } from '../cli.ts';
import { Client } from '../client.ts';
import { during } from '../output/progress.ts';
import { tokenFor } from './access.ts';
import { offerRestart } from './older-daemon.ts';

/**
 * A client that starts the daemon when it does not answer, unless the daemon is of another account. `port` is for a
 * daemon that it starts.
 */
export function connect(context: Context, port?: number): Client {
  if (context.socket !== null) return connectRunning(context);
  const start = async () => {
    const { startDaemon } = await import('./start-daemon.ts');
    await during(context.out, 'starting the daemon', startDaemon(context.home, port));
  };
  const before = () => offerRestart(context, () => endRunning(context));
  return new Client(context.home, start, { ...callerOptions(context, (text) => context.out.warn(text)), before });
}

async function endRunning(context: Context): Promise<void> {
  const { end } = await import('./end-daemon.ts');
  await during(context.out, 'waiting for the daemon to end', end(connectRunning(context), false));
}

/**
 * A client that starts no daemon: without one its calls fail with `unavailable`. `warn` prints notices of the daemon.
 */
export function connectRunning(context: Context, warn = (text: string) => context.out.warn(text)): Client {
  const place = context.socket === null ? context.home : { socket: context.socket };
  return new Client(place, undefined, callerOptions(context, warn));
}

function callerOptions({ socket, user }: Context, warn: (text: string) => void) {
  return {
    token: tokenFor(socket, warn),
    actAs: user ?? undefined,
    build: socket === null ? undefined : (ownBuild() ?? undefined),
    onNotice: once(warn),
  };
}

/** Prints each text once, also when a command makes several requests. */
function once(say: (text: string) => void): (text: string) => void {
  const printed = new Set<string>();
  return (text) => {
    if (!printed.has(text)) say(text);
    printed.add(text);
  };
}
