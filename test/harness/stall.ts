/** How long a daemon does not answer while it works for one user. Measured by a process of its own. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { Installation } from './installation.ts';

export interface Stall {
  readonly longestMs: number;
  /** How many requests were answered meanwhile. */
  readonly asked: number;
}

export async function stallDuring(carrel: Installation, work: () => Promise<unknown>): Promise<Stall> {
  const args = ['test/fixtures/longest-stall.mjs', `${carrel.home}/carrel.sock`, String(carrel.daemonPid)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const printed = text(child.stdout);
  try {
    await work();
  } finally {
    child.stdin.end();
  }
  return JSON.parse(await printed) as Stall;
}
