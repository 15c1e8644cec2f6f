/** Waits until the init of a sandbox receives signals. */
import { setTimeout as pause } from 'node:timers/promises';
import { readIfThere } from '../../lib/file/file.ts';
import { isAlive, type ProcessRef } from '../../lib/process/process.ts';

const startMs = 5000;

/**
 * The kernel drops a signal for the first process of a pid namespace that neither handles nor blocks it. Init programs
 * block signals before they start the command, and pass on what they receive from then on.
 */
export async function initReady(init: ProcessRef): Promise<void> {
  const end = Date.now() + startMs;
  while (isAlive(init) && readIfThere(`/proc/${init.pid}/task/${init.pid}/children`) === '') {
    if (Date.now() > end) return;
    await pause(1);
  }
}
