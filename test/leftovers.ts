/**
 * A run must leave nothing of its own on the machine: no process, mount or control group, no folder in its temporary
 * folder or in /dev/shm. Leftovers fail the run with a list. With CARREL_TEST_DISK=0 the folder of the run stays for
 * inspection.
 */
import { readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { currentRun, removeRunFolder } from './harness/run.ts';
import { leftovers, type Machine, type Run, type SeenProcess } from './leftover.ts';

/** Shorter than vitest's time-out of a teardown. */
const settleMs = 20_000;
/** Podman never removes the parent group of its containers. */
const podmanGroup = 'libpod_parent';

/** Vitest calls the setup for each project; the first call checks for all of them. */
const shared = globalThis as { carrelLeftovers?: true };

export default function setup(): (() => Promise<void>) | undefined {
  if (shared.carrelLeftovers) return undefined;
  shared.carrelLeftovers = true;
  return check;
}

/** Processes that are about to end get some time to do so. */
async function check(): Promise<void> {
  const run = currentRun();
  const deadline = Date.now() + settleMs;
  let left = leftNow(run);
  while (left.length > 0 && Date.now() < deadline) {
    await sleep(100);
    left = leftNow(run);
  }
  for (const group of cgroups((name) => name === podmanGroup)) removeEmpty(group);
  if (left.length === 0) return removeRunFolder(run);
  // Vitest prints an error of a teardown but would exit with 0.
  process.exitCode = 1;
  throw new Error(`the run left behind:\n  ${left.map(withContent).join('\n  ')}`);
}

/** The first names in a folder tell which test made it. */
function withContent(line: string): string {
  const folder = /^folder (.*)/.exec(line)?.[1];
  if (folder === undefined) return line;
  const names = attempt(() => readdirSync(folder, { recursive: true, encoding: 'utf8' }), []);
  return [line, ...names.slice(0, 12).map((name) => `  ${name}`)].join('\n  ');
}

function leftNow(run: Run): string[] {
  return leftovers(run, look(run), process.pid);
}

export function look(run: Run): Machine {
  return {
    processes: processes(),
    mounts: lines('/proc/1/mountinfo'),
    groups: cgroups((name) => name.startsWith('carrel-')),
    folders: [...folders(run.folder), ...folders('/dev/shm')],
  };
}

function processes(): SeenProcess[] {
  return list('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => ({
      pid: Number(pid),
      parent: Number(/^PPid:\t(\d+)$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0),
      argv: read(`/proc/${pid}/cmdline`).split('\0').slice(0, -1),
      environment: read(`/proc/${pid}/environ`),
      groups: read(`/proc/${pid}/cgroup`),
      mounts: lines(`/proc/${pid}/mountinfo`),
    }));
}

/** One hierarchy on cgroup v2, a folder per controller on v1 and hybrid. */
function cgroups(isWanted: (name: string) => boolean): string[] {
  const root = '/sys/fs/cgroup';
  return [root, ...list(root).map((name) => `${root}/${name}`)].flatMap((parent) =>
    list(parent)
      .filter(isWanted)
      .map((name) => `${parent}/${name}`),
  );
}

/** A group in use stays. */
function removeEmpty(group: string): void {
  for (const path of [`${group}/conmon`, group]) attempt(() => rmdirSync(path), undefined);
}

function folders(parent: string): string[] {
  return list(parent)
    .filter((name) => name.startsWith('carrel-'))
    .map((name) => `${parent}/${name}`);
}

/** A folder that vanishes meanwhile, and a path that is no folder, count as empty. */
function list(path: string): string[] {
  return attempt(() => readdirSync(path), []);
}

function read(path: string): string {
  return attempt(() => readFileSync(path, 'utf8'), '');
}

function lines(path: string): string[] {
  return read(path).split('\n').filter(Boolean);
}

function attempt<T>(look: () => T, otherwise: T): T {
  try {
    return look();
  } catch {
    return otherwise;
  }
}
