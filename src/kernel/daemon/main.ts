/**
 * Entry of the daemon process. CARREL_HOME names its home; `lib/sys/namespace.ts` says how it must be started. Until it
 * answers, its stderr is that of the command that started it; then it is daemon.log, whose descriptor is in
 * CARREL_LOG_FD.
 */
import { writeSync } from 'node:fs';
import { isInUserNamespace } from '../../lib/sys/id-map.ts';
import { replaceDescriptor } from '../../lib/sys/sys.ts';
import { asFault, faultTable } from '../../model/fault.ts';
import { startDaemon } from './daemon.ts';

const home = process.env.CARREL_HOME;
const log = process.env.CARREL_LOG_FD === undefined ? null : Number(process.env.CARREL_LOG_FD);
delete process.env.CARREL_LOG_FD;
const port = process.env.CARREL_PORT === undefined ? null : Number(process.env.CARREL_PORT);
delete process.env.CARREL_PORT;
const stderr = 2;

function write(text: string, ...to: readonly (number | null)[]): void {
  for (const fd of to) {
    try {
      if (fd !== null) writeSync(fd, text);
    } catch {
      // The command that started the daemon is gone, or the disk is full, ignoring: there is no reader.
    }
  }
}

// An error that one request did not catch must not end the daemon, because it serves other clients.
process.on('unhandledRejection', (reason) => {
  write(`unhandled: ${reason instanceof Error ? reason.stack : String(reason)}\n`, stderr);
});

async function run(): Promise<void> {
  if (!home?.startsWith('/')) throw new Error('CARREL_HOME must be an absolute path');
  // In a user namespace root has only the ids that are mapped into it.
  const daemon = await startDaemon(home, { rootless: isInUserNamespace(), port, container: null });
  if (log !== null) replaceDescriptor(log, stderr);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void daemon.shutdown(false));
  await daemon.closed;
  process.exit(0);
}

run().catch((error: unknown) => {
  const fault = asFault(error);
  write(`carrel-fault: ${JSON.stringify(fault)}\n`, stderr, log);
  if (fault.code === 'internal')
    write(`${fault.cause instanceof Error ? fault.cause.stack : fault.stack}\n`, stderr, log);
  process.exit(faultTable[fault.code].exit);
});
