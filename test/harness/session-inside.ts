/** Processes in a sandbox, as the host sees them: they are found and killed without the daemon. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Installation } from './installation.ts';

/** The pid on the host of the first process of a sandbox on the local engine. */
export function firstProcess(carrel: Installation, sandboxId: string): string {
  return readFileSync(join(carrel.home, 'engine/run', sandboxId, 'pid'), 'utf8').trim();
}

/** Pids on the host of the processes in the sandbox of this process that have this text in their arguments. */
export function processesBeside(first: string, text: string): number[] {
  const namespace = namespaceOf(first);
  if (namespace === null) return [];
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && namespaceOf(name) === namespace);
  return pids.filter((pid) => argumentsOf(pid).includes(text)).map(Number);
}

export function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended already, ignoring.
    return false;
  }
}

function namespaceOf(pid: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return null;
  }
}

function argumentsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
