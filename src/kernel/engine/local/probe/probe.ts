/**
 * Probes this machine for the embedded engine: each row says what was found, and how to fix what is missing. This file
 * gathers texts and runs trials; the files beside it judge them.
 *
 * `run.ts` tries the claims of SECURITY.md (`claims.ts`) in a sandbox made for them. A claim holds, is broken, or could not
 * be tried here: the latter is a warning, never a success.
 */

import { existsSync, readdirSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { release } from 'node:os';
import { dirname, join } from 'node:path';
import { isErrno, readIfThere } from '../../../../lib/file/file.ts';
import { run } from '../../../../lib/process/run.ts';
import { runtimeNames } from '../../../../model/engine.ts';
import type { EngineAbout, ProbeRow } from '../../engine.ts';
import { refusalIn } from '../../probe-row.ts';
import { hiddenHierarchy } from '../cgroup.ts';
import type { LocalContext } from '../context.ts';
import { findProgram } from '../runtime/runtime.ts';
import { cgroupRow, otherGroupsRow } from './cgroup.ts';
import { diskRows } from './disk.ts';
import { idProgramsRow, idRangeRow } from './ids.ts';
import { keepersRow, livingSandboxes } from './keepers.ts';
import { inotifyRow, kernelRow, seccompRow, userNamespaceRow } from './kernel.ts';
import { type FoundProgram, initRow, keeperRow, runtimeRows, toolRow, unshareRow } from './program.ts';
import { trialRows } from './trial.ts';
import { versionIn } from './version.ts';

const cgroupMount = '/sys/fs/cgroup';
/** Long enough for a busy machine: a program that does not answer counts as unusable. */
const askMs = 30_000;

export async function probe(context: LocalContext): Promise<readonly ProbeRow[]> {
  const { rootless } = context.space;
  const [programs, tools, trials, disk] = await Promise.all([
    programRows(context),
    toolRows(),
    trialRows(context.layout.folder, rootless),
    diskOf(context.layout.folder),
  ]);
  return [
    ...kernelRows(rootless),
    ...idRows(context),
    ...programs,
    cgroupsRow(context),
    keepersRow(livingSandboxes(context)),
    ...trials,
    ...diskRows(disk),
    ...tools,
    otherGroupsRow(otherGroups(context)),
  ];
}

/** A summary that only examines the installed programs. */
export async function aboutLocal(context: LocalContext): Promise<EngineAbout> {
  const [rows, keeper, runtimes] = await Promise.all([
    programRows(context),
    programAt('conmon', context.keeperPath),
    Promise.all(runtimeNames.map(programOf)),
  ]);
  const known = runtimes.filter((program) => program !== null);
  const [runtime] = known.filter(({ name }) => name === 'crun' || name === 'runc');
  return {
    version: keeper.version === null ? null : `conmon ${versionIn(keeper.version) ?? ''}`.trim(),
    runtime: runtime ? `${runtime.name} ${versionIn(runtime.version ?? '') ?? ''}`.trim() : null,
    runtimes: known.map(({ name }) => name),
    at: null,
    // The other runtimes are optional.
    refusal: refusalIn(rows.filter(({ name }) => !/^runtime-(runsc|sysbox)/.test(name))),
  };
}

function kernelRows(rootless: boolean): ProbeRow[] {
  const sysctl = (path: string) => readIfThere(join('/proc/sys', path));
  return [
    kernelRow(release()),
    userNamespaceRow({
      rootless,
      max: sysctl('user/max_user_namespaces'),
      unprivileged: sysctl('kernel/unprivileged_userns_clone'),
      apparmor: sysctl('kernel/apparmor_restrict_unprivileged_userns'),
    }),
    seccompRow(sysctl('kernel/seccomp/actions_avail')),
    inotifyRow(sysctl('fs/inotify/max_user_instances'), sysctl('fs/inotify/max_user_watches')),
  ];
}

function idRows({ space }: LocalContext): ProbeRow[] {
  const text = (path: string) => readIfThere(path) ?? '';
  const range = idRangeRow({
    space,
    uidMap: text('/proc/self/uid_map'),
    gidMap: text('/proc/self/gid_map'),
    subuid: text('/etc/subuid'),
    subgid: text('/etc/subgid'),
    passwd: text('/etc/passwd'),
  });
  if (!space.rootless) return [range];
  return [range, idProgramsRow({ newuidmap: findProgram('newuidmap'), newgidmap: findProgram('newgidmap') })];
}

async function programRows({ keeperPath, layout, space }: LocalContext): Promise<ProbeRow[]> {
  const [runtimes, keeper, keeperHelp, init, unshare] = await Promise.all([
    Promise.all(runtimeNames.map(programOf)),
    programAt('conmon', keeperPath),
    outputOf(keeperPath, '--help'),
    programAt('init', layout.init),
    programOf('unshare'),
  ]);
  const unshareHelp = unshare ? await outputOf(unshare.path, '--help') : null;
  return [
    ...runtimeRows(runtimes.filter((program) => program !== null)),
    keeperRow(keeper, keeperHelp ?? ''),
    initRow(init),
    unshareRow(unshare, unshareHelp ?? '', space.rootless),
  ];
}

async function toolRows(): Promise<ProbeRow[]> {
  const [git, ripgrep] = await Promise.all([programOf('git'), programOf('rg')]);
  return [
    toolRow('git', git, 'agents cannot use version control'),
    toolRow('ripgrep', ripgrep, 'searching in projects is slow'),
  ];
}

async function programOf(name: string): Promise<FoundProgram | null> {
  const path = findProgram(name);
  return path === null ? null : programAt(name, path);
}

async function programAt(name: string, path: string): Promise<FoundProgram> {
  return { name, path, version: await outputOf(path, '--version') };
}

/** Null: the program could not be run, or failed. */
async function outputOf(path: string, option: string): Promise<string | null> {
  try {
    const { exitCode, stdout, stderr } = await run([path, option], askMs);
    return exitCode === 0 ? stdout || stderr : null;
  } catch {
    return null;
  }
}

function cgroupsRow({ cgroups, space }: LocalContext): ProbeRow {
  const hybrid = cgroups.version === 1 && existsSync(join(cgroupMount, hiddenHierarchy));
  return cgroupRow({
    ...cgroups,
    hybrid,
    rootless: space.rootless,
    controllers: controllers(cgroups),
    account: process.env.CARREL_OWNER ?? '',
  });
}

function controllers({ version, parent }: LocalContext['cgroups']): string[] {
  if (version === 1) return namesIn(cgroupMount).flatMap((name) => name.split(','));
  const base = parent === null ? '/' : dirname(parent);
  return (readIfThere(join(cgroupMount, base, 'cgroup.controllers')) ?? '').split(/\s+/);
}

/** The groups in one hierarchy: an installation has its group in all of them. */
function otherGroups({ cgroups }: LocalContext): { name: string; busy: boolean }[] {
  const hierarchy = cgroups.version === 2 ? cgroupMount : join(cgroupMount, 'pids');
  return namesIn(hierarchy)
    .filter((name) => name.startsWith('carrel-') && `/${name}` !== cgroups.parent)
    .map((name) => ({ name, busy: holdsProcess(join(hierarchy, name)) }));
}

function holdsProcess(group: string): boolean {
  return namesIn(group).some((name) => textOf(join(group, name, 'cgroup.procs')).trim() !== '');
}

/** A group may be removed meanwhile. */
function textOf(path: string): string {
  try {
    return readIfThere(path) ?? '';
  } catch (error) {
    if (isErrno(error, 'ENODEV') || isErrno(error, 'EOPNOTSUPP')) return '';
    throw error;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isErrno(error, 'ENOENT') || isErrno(error, 'ENOTDIR')) return [];
    throw error;
  }
}

async function diskOf(folder: string) {
  const { blocks, bavail, bsize, files, ffree } = await statfs(folder);
  return { folder, bytes: blocks * bsize, freeBytes: bavail * bsize, inodes: files, freeInodes: ffree };
}
