/**
 * The same copy-on-write by FUSE: fuse-overlayfs, mounted where only its own process and the bench's process inside see
 * it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { namespaceArgs } from '../../src/lib/sys/namespace.ts';
import { gather } from '../harness/installation.ts';
import type { Cleanup } from './cleanup.ts';
import { cleanly, heavyMs, type Place } from './inside.ts';
import { isInstalled, output } from './program.ts';

const mountMs = 5000;

/** Returns the reason if FUSE is unavailable. The upper folder is new and lies on the filesystem of the lower one. */
export async function openFuse(cleanup: Cleanup, lower: string, folder: string): Promise<Place | string> {
  if (!isInstalled('fuse-overlayfs')) return 'not installed';
  if (!canUseFuse()) return '/dev/fuse is missing or not for us';
  const [upper, work, merged] = ['upper', 'work', 'merged'].map((name) => join(folder, name));
  for (const path of [upper, work, merged]) mkdirSync(path!, { recursive: true });
  const layers = `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
  const uid = process.getuid?.() ?? 0;
  const [file, ...args] = [...namespaceArgs(uid), 'fuse-overlayfs', '-f', '-o', layers, merged!];
  const child = spawn(file!, args, { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  cleanup.add('fuse-overlayfs', () => end(child));
  await mounted(child, merged!);
  const asRoot = uid === 0 ? [] : ['--user', '--preserve-credentials'];
  const enter = ['--target', String(child.pid), '--mount', ...asRoot, '--', 'env', '-C', merged!];
  return (argv) => output(['nsenter', ...enter, ...cleanly(...argv)], heavyMs);
}

function canUseFuse(): boolean {
  try {
    accessSync('/dev/fuse', constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

async function mounted(child: ChildProcess, path: string): Promise<void> {
  const deadline = Date.now() + mountMs;
  const said = gather(child.stderr!);
  while (!mountsOf(child).includes(` ${path} `)) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`fuse-overlayfs did not mount: ${said()}`);
    await sleep(10);
  }
}

function mountsOf({ pid }: ChildProcess): string {
  try {
    return readFileSync(`/proc/${pid}/mountinfo`, 'utf8');
  } catch {
    return '';
  }
}

/** The process unmounts when it gets SIGTERM, and its namespace ends with it. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
