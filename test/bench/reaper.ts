/**
 * Cleans up after a benchmark that was killed: a process of its own whose stdin ends with the benchmark. What the benchmark starts
 * and puts on the machine carries the id of its run.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { currentRun, openRun } from '../harness/run.ts';
import { reap } from '../reap.ts';

const self = fileURLToPath(import.meta.url);

/** Also opens the run. */
export function startReaper(): void {
  openRun();
  const child = spawn(process.execPath, [self], { stdio: ['pipe', 'ignore', 'inherit'], detached: true });
  child.unref();
  (child.stdin as unknown as { unref(): void }).unref();
}

if (process.argv[1] === self) {
  for await (const _ of process.stdin);
  await reap(currentRun(), process.pid);
}
