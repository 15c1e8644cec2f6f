/** Processor time of a process, which a loaded machine changes far less than the time that passes. */
import { readdirSync, readFileSync } from 'node:fs';

/** Of all its threads. */
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
