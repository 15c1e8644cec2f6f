/** Entry of the daemon process. CARREL_HOME says whose; `lib/namespace.ts` says how it is to be started. */
import { isInUserNamespace } from '../lib/id-map.ts';
import { asFault, consequences } from '../model/fault.ts';
import { startDaemon } from './daemon.ts';

const home = process.env.CARREL_HOME;

// Sandboxes depend on nobody, but people do on this process: what one request forgot must not end all others.
process.on('unhandledRejection', (reason) => {
  process.stderr.write(`unhandled: ${reason instanceof Error ? reason.stack : String(reason)}\n`);
});

try {
  if (!home?.startsWith('/')) throw new Error('CARREL_HOME must be an absolute path');
  // Root in a user namespace has only the ids that were lent to it.
  const daemon = await startDaemon(home, isInUserNamespace());
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void daemon.shutdown(false));
  await daemon.closed;
  process.exit(0);
} catch (error) {
  const fault = asFault(error);
  process.stderr.write(`carrel-fault: ${JSON.stringify(fault)}\n`);
  if (fault.code === 'internal')
    process.stderr.write(`${fault.cause instanceof Error ? fault.cause.stack : fault.stack}\n`);
  process.exit(consequences[fault.code].exit);
}
