/** Measures, in a process of its own, how long a daemon does not answer while it works for one user. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Installation } from './installation.ts';

export interface Stall {
  readonly longestMs: number;
  /** Processor time of the event loop while one request waited. */
  readonly longestCpuMs: number;
  /** How many requests were answered meanwhile. */
  readonly answers: number;
}

export async function stallDuring(carrel: Installation, work: () => Promise<unknown>): Promise<Stall> {
  const args = ['test/fixtures/longest-stall.mjs', `${carrel.home}/carrel.sock`, String(carrel.daemonPid)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  try {
    await lines.next();
    await work();
  } finally {
    child.stdin.end();
  }
  const { value } = await lines.next();
  return JSON.parse(value as string) as Stall;
}
