/** Processor time of a process: the load of the machine changes it far less than elapsed time. */
import { readdirSync, readFileSync } from 'node:fs';

/** The sum over all threads. */
export function processorMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`).map((id) => `/proc/${pid}/task/${id}/schedstat`);
  return threads.reduce((sum, path) => sum + ranNs(path), 0) / 1e6;
}

function ranNs(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8').split(' ')[0]);
  } catch {
    // The thread has ended, ignoring.
    return 0;
  }
}
