/** How commands reach the daemon. */
import { Client } from '../api/client.ts';
import type { Context } from './context.ts';
import { during } from './output/progress.ts';

/** A client that brings the daemon up when nobody answers. */
export function connect(context: Context): Client {
  return new Client(context.home, async () => {
    const { startDaemon } = await import('./daemon-start.ts');
    await during(context.out, 'starting the daemon', startDaemon(context.home));
  });
}

/** A client that takes the daemon as it is, or is refused with `unavailable`. */
export function connectRunning(context: Context): Client {
  return new Client(context.home);
}
