/** What the files of this engine share: facts about the installation and the machine, found once at the start. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  renameSync,
  type Stats,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { readIfThere } from '../../../lib/file/file.ts';
import { Fault } from '../../../model/fault.ts';
import type { Limits } from '../../../model/limits.ts';
import { defaultLog, type LogLimits } from '../engine.ts';
import { type Cgroups, detectCgroups } from './cgroup.ts';
import { type IdSpace, readIdSpace } from './ids.ts';
import { Layout } from './layout.ts';
import { LogWatch } from './log/log-watch.ts';
import { CompiledFilter } from './runtime/crun.ts';
import { findProgram } from './runtime/runtime.ts';

export interface LocalContext {
  readonly layout: Layout;
  readonly cgroups: Cgroups;
  readonly space: IdSpace;
  readonly keeperPath: string;
  readonly log: LogLimits;
  readonly logs: LogWatch;
  readonly filter: CompiledFilter;
  readonly makesSandboxes: boolean;
}

export interface LocalOptions {
  /** Where the engine keeps its files. */
  readonly folder: string;
  /** Distinguishes this installation's control groups from those of others. */
  readonly installation: string;
  readonly log?: LogLimits;
  /** False: the process has no mount namespace of its own, and starts no sandboxes. */
  readonly makesSandboxes?: boolean;
}

export function openContext(options: LocalOptions): LocalContext {
  const layout = new Layout(options.folder);
  const space = readIdSpace();
  const log = options.log ?? defaultLog;
  installInit(layout);
  return {
    layout,
    space,
    cgroups: detectCgroups(options.installation, space.rootless, join(options.folder, 'group')),
    // Missing programs are refused when a sandbox starts, so that the doctor can run without them.
    keeperPath: findProgram('conmon') ?? 'conmon',
    log,
    logs: new LogWatch(layout.runs, log.files),
    filter: new CompiledFilter(),
    makesSandboxes: options.makesSandboxes !== false,
  };
}

/**
 * Each of these reaps processes, forwards signals and exits as its child did. The static ones run on every root
 * filesystem.
 */
const initPrograms = ['tini-static', 'docker-init', 'tini', 'catatonit'];

/** Copies the host's init program, and copies it again when it changes. */
export function installInit({ init }: Pick<Layout, 'init'>): void {
  const source = initPrograms.map(findProgram).find((path) => path !== null);
  if (!source) return;
  const [made, found] = [statSync(init, { throwIfNoEntry: false }), statSync(source)];
  if (made && made.size === found.size && secondsOf(made) === secondsOf(found)) return;
  const next = `${init}.new`;
  copyFileSync(source, next);
  chmodSync(next, 0o755);
  utimesSync(next, secondsOf(found), secondsOf(found));
  renameSync(next, init);
}

function secondsOf({ mtimeMs }: Stats): number {
  return Math.floor(mtimeMs / 1000);
}

export function runtimeArgs(context: LocalContext, runtime: string): string[] {
  const noGroups = context.cgroups.parent === null && runtime === 'crun';
  return ['--root', context.layout.state(runtime), ...(noGroups ? ['--cgroup-manager=disabled'] : [])];
}

export function requireInit(layout: Layout): void {
  if (existsSync(layout.init)) return;
  throw new Fault('unsupported', 'no init for sandboxes is installed', { hint: 'Run ./setup, or install tini.' });
}

/** Decisions of a launch that the engine needs when it finds the sandbox again. */
export interface LaunchNote {
  readonly runtime: string;
  readonly runtimePath: string;
  readonly advisory: readonly (keyof Limits)[];
  readonly env: Readonly<Record<string, string>>;
  readonly maxProcesses: number | null;
  /** The daemon adds mounts after the runtime has created the sandbox. */
  readonly nests?: boolean;
}

export const noteName = 'launch.json';

export function readNote(context: LocalContext, id: string): LaunchNote | null {
  const text = readIfThere(join(context.layout.run(id), noteName));
  try {
    return text === null ? null : (JSON.parse(text) as LaunchNote);
  } catch {
    // A power failure truncated the note before the launch.
    return null;
  }
}

const nestedName = 'nested';

/** Records that the mounts that the daemon adds are in place. */
export function noteNested(context: LocalContext, id: string): void {
  writeFileSync(join(context.layout.run(id), nestedName), '', { mode: 0o600 });
}

/** Whether mounts are missing because the daemon died between the runtime's mounts and its own. */
export function lacksMounts(context: LocalContext, id: string): boolean {
  return readNote(context, id)?.nests === true && !existsSync(join(context.layout.run(id), nestedName));
}
