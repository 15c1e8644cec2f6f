/** The end of a command whose output is read. */
import type { ChildProcess } from 'node:child_process';

const backgroundMs = 50;

export type ExitOf = readonly [exitCode: number | null, signal: NodeJS.Signals | null];

/** Everything that the command wrote has been read by then. Rejects where it cannot be started. */
export function exitOf(child: ChildProcess): Promise<ExitOf> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      // A process in the background may keep the pipes open: what is in them now is all that counts. On a busy machine that
      // may not be read yet when the time is over; it is before immediates run.
      setTimeout(() => setImmediate(() => resolve([code, signal])), backgroundMs).unref();
      child.once('close', () => resolve([code, signal]));
    });
  });
}
