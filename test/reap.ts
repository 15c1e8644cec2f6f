/** Removes the leftovers of a run: its processes, mounts, control groups and folders. */
import { readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isErrno } from '../src/lib/file/file.ts';
import { processRef, signalProcess } from '../src/lib/process/process.ts';
import { detachMount } from '../src/lib/sys/sys-mount.ts';
import { partOf, type Run } from './leftover.ts';
import { look } from './leftovers.ts';

const reapMs = 30_000;

/** Removes everything except `self`, its ancestors and its children. */
export async function reap(run: Run, self: number): Promise<void> {
  const deadline = Date.now() + reapMs;
  let left = partOf(run, look(run), self);
  while (left.processes.length > 0 && Date.now() < deadline) {
    for (const ref of left.processes.map(({ pid }) => processRef(pid))) if (ref) signalProcess(ref, 'SIGKILL');
    await sleep(50);
    left = partOf(run, look(run), self);
  }
  for (const line of left.mounts.toReversed()) detachMount(line.split(' ')[4]!);
  for (const group of left.groups) await removeGroup(group, deadline);
  for (const folder of [...left.folders, run.folder]) rmSync(folder, { recursive: true, force: true });
}

/** A group is busy until the kernel has released its last process. */
async function removeGroup(path: string, deadline: number): Promise<void> {
  for (const entry of readdirSync(path, { withFileTypes: true }))
    if (entry.isDirectory()) await removeGroup(join(path, entry.name), deadline);
  while (!isRemoved(path)) {
    if (Date.now() >= deadline) throw new Error(`${path} is still busy`);
    await sleep(50);
  }
}

function isRemoved(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    if (isErrno(error, 'EBUSY')) return false;
    throw error;
  }
}
