/** The end of a command whose output is read. */
import type { ChildProcess } from 'node:child_process';

const backgroundMs = 50;

export type ExitOf = readonly [exitCode: number | null, signal: NodeJS.Signals | null];

/** Resolves when everything that the command wrote has been read. Rejects if the command cannot be started. */
export function exitOf(child: ChildProcess): Promise<ExitOf> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      // A background process may keep the pipes open, so only what is in them now counts. On a busy machine that may be
      // unread when the timer fires; the event loop reads it before immediates run.
      setTimeout(() => setImmediate(() => resolve([code, signal])), backgroundMs).unref();
      child.once('close', () => resolve([code, signal]));
    });
  });
}
