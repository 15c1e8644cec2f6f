/** Rows about the programs that the engine needs, from their paths and their own output. */
import type { ProbeRow } from '../../engine.ts';
import { failure, ok, warning } from '../../probe-row.ts';
import { versionIn } from './version.ts';

export interface FoundProgram {
  readonly name: string;
  readonly path: string;
  /** What `--version` printed; null: it could not be run. */
  readonly version: string | null;
}

export function described({ name, path, version }: FoundProgram): string {
  return `${name} ${versionIn(version ?? '') ?? 'of unknown version'} at ${path}`;
}

/** One row for each installed runtime, and one more if no default runtime is installed. */
export function runtimeRows(installed: readonly FoundProgram[]): ProbeRow[] {
  const rows = installed.map(runtimeRow);
  const usable = installed.some(({ name }) => name === 'crun' || name === 'runc');
  return usable ? rows : [failure('runtime', 'neither crun nor runc is installed', installHint('crun')), ...rows];
}

function runtimeRow(program: FoundProgram): ProbeRow {
  const name = `runtime-${program.name}`;
  if (program.version === null) {
    return failure(name, `${program.path} does not run`, `Install ${program.name} again.`);
  }
  if (filters[program.name]?.test(program.version) === false) {
    return failure(name, `${described(program)} has no seccomp`, `Install a ${program.name} built with seccomp.`);
  }
  return ok(name, described(program));
}

/** How runtimes that can be built without filters report that they have them. */
const filters: Readonly<Record<string, RegExp>> = { crun: /\+SECCOMP\b/, runc: /^libseccomp: /m };

const keeperOptions = [
  ...['--exec-attach', '--exec-process-spec', '--exit-dir', '--full-attach', '--leave-stdin-open'],
  ...['--log-size-max', '--no-sync-log', '--persist-dir'],
];

export function keeperRow(program: FoundProgram, help: string): ProbeRow {
  const missing = keeperOptions.filter((option) => !help.includes(option));
  if (program.version === null) return failure('conmon', `${program.path} does not run`, installHint('conmon'));
  if (missing.length === 0) return ok('conmon', described(program));
  const lacks = `${described(program)} lacks ${missing.join(', ')}`;
  return failure('conmon', lacks, 'Install conmon 2.1.0 or newer.');
}

export function initRow(program: FoundProgram): ProbeRow {
  if (program.version !== null) return ok('init', described(program));
  return failure(
    'init',
    `${program.path} does not run`,
    'Remove that file, run ./setup or install tini, then: carrel down',
  );
}

/** An ordinary user's daemon is root over ids that only --map-auto maps. */
export function unshareRow(program: FoundProgram | null, help: string, rootless: boolean): ProbeRow {
  const hint = 'Install util-linux 2.38 or newer.';
  if (program === null) return failure('unshare', 'not installed', hint);
  if (help.includes('--map-auto')) return ok('unshare', described(program));
  const detail = `${described(program)} has no --map-auto, which ordinary users need`;
  return (rootless ? failure : warning)('unshare', detail, hint);
}

export function toolRow(name: string, program: FoundProgram | null, use: string): ProbeRow {
  return program ? ok(name, described(program)) : warning(name, `not installed; ${use}`, installHint(name));
}

function installHint(name: string): string {
  return `Run ./setup, or install ${name}.`;
}
