/**
 * Tests on the real machine must leave it as they found it. Before the run this notes what is there; after it, whatever
 * of ours is new fails the run: processes, mounts, cgroups, folders in /tmp and /dev/shm.
 *
 * The comparison is of the whole machine, so a second run beside this one shows up as leftovers here.
 */
import { readdirSync, readFileSync, readlinkSync, rmdirSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Less than vitest gives a teardown. */
const settleMs = 20_000;
/** Podman never removes the group that it keeps its containers' groups in. */
const podmanGroup = 'libpod_parent';
const ours = new Set(['conmon', 'crun', 'runc', 'runsc', 'sysbox-runc', 'catatonit', 'tini', 'carrel']);

/** Vitest sets up each project by itself; the first one checks for all. */
const shared = globalThis as { carrelLeftovers?: true };

export default function setup(): (() => Promise<void>) | undefined {
  if (shared.carrelLeftovers) return undefined;
  shared.carrelLeftovers = true;
  const before = new Set(everything());
  return () => check(before);
}

/** What ends by itself gets a moment to do so. */
async function check(before: ReadonlySet<string>): Promise<void> {
  const deadline = Date.now() + settleMs;
  let left = fresh(before);
  while (left.length > 0 && Date.now() < deadline) {
    for (const group of left.filter((thing) => thing.endsWith(podmanGroup))) removeEmpty(group.slice('cgroup '.length));
    await sleep(50);
    left = fresh(before);
  }
  if (left.length === 0) return;
  // Vitest prints an error of a teardown but exits 0.
  process.exitCode = 1;
  throw new Error(`the run left behind:\n  ${left.join('\n  ')}`);
}

function fresh(before: ReadonlySet<string>): string[] {
  return everything().filter((thing) => !before.has(thing));
}

function everything(): string[] {
  return [...processes(), ...mounts(), ...cgroups(), ...folders()];
}

function processes(): string[] {
  return list('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const argv = read(`/proc/${pid}/cmdline`).split('\0').slice(0, -1);
      if (argv.length === 0 || !isOurs(pid, argv)) return [];
      return [`process ${pid}, started at ${startTime(pid)}: ${JSON.stringify(argv.join(' ')).slice(0, 300)}`];
    });
}

/** By its name, by the cgroup it is in, or because it lives in a pid namespace of its own. */
function isOurs(pid: string, argv: readonly string[]): boolean {
  const names = argv.slice(0, 2).map((word) => basename(word));
  const daemon = argv.some((word) => /\/(dist|src)\/(daemon|network\/proxy)\//.test(word));
  return daemon || names.some((name) => ours.has(name)) || inCarrelCgroup(pid) || inOtherPidNamespace(pid);
}

function inCarrelCgroup(pid: string): boolean {
  return read(`/proc/${pid}/cgroup`).includes('/carrel');
}

function inOtherPidNamespace(pid: string): boolean {
  const namespace = link(`/proc/${pid}/ns/pid`);
  return namespace !== '' && namespace !== link('/proc/self/ns/pid');
}

/** Field 22 of `stat`, in clock ticks since boot: tells a process from a later one with the same pid. */
function startTime(pid: string): string {
  const stat = read(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '?';
}

/** Of the host: tests have a mount namespace of their own. */
function mounts(): string[] {
  return read('/proc/1/mountinfo')
    .split('\n')
    .filter((line) => line.includes('carrel'))
    .map((line) => `mount ${line.split(' ').slice(3, 5).join(' on ')}`);
}

/** One hierarchy on cgroup v2, a folder per controller on v1 and hybrid. */
function cgroups(): string[] {
  const root = '/sys/fs/cgroup';
  return [root, ...list(root).map((name) => `${root}/${name}`)].flatMap((parent) =>
    list(parent)
      .filter((name) => name.includes('carrel') || name === podmanGroup)
      .map((name) => `cgroup ${parent}/${name}`),
  );
}

/** One that somebody uses stays. */
function removeEmpty(group: string): void {
  for (const path of [`${group}/conmon`, group]) attempt(() => rmdirSync(path), undefined);
}

function folders(): string[] {
  return ['/tmp', '/dev/shm'].flatMap((parent) =>
    list(parent)
      .filter((name) => name.startsWith('carrel-'))
      .map((name) => `folder ${parent}/${name}`),
  );
}

/** What vanishes while it is looked at, and what is not a folder, is empty. */
function list(path: string): string[] {
  return attempt(() => readdirSync(path), []);
}

function read(path: string): string {
  return attempt(() => readFileSync(path, 'utf8'), '');
}

function link(path: string): string {
  return attempt(() => readlinkSync(path), '');
}

function attempt<T>(look: () => T, otherwise: T): T {
  try {
    return look();
  } catch {
    return otherwise;
  }
}
