/**
 * Proves what SECURITY.md claims: looks at the machine, then tries each claim in a sandbox made for it. That sandbox
 * has a record like any other, so after a crash the next daemon knows it; and it ends by itself.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Engine, ProbeRow } from '../../../../kernel/engine/engine.ts';
import { trialLimits } from '../../../../kernel/engine/local/probe/claim-limit.ts';
import { claimIds } from '../../../../kernel/engine/local/probe/claims.ts';
import { readFacts } from '../../../../kernel/engine/local/probe/facts.ts';
import {
  insideOf,
  notProved,
  type RunInside,
  tryParallel,
  trySerial,
} from '../../../../kernel/engine/local/probe/run.ts';
import { tracesOf } from '../../../../kernel/engine/local/probe/traces.ts';
import { failure, ok } from '../../../../kernel/engine/probe-row.ts';
import { type Home, socketName } from '../../../../kernel/home/home.ts';
import type { Kernel } from '../../../../kernel/kernel.ts';
import { packageFolder } from '../../../../lib/file/package.ts';
import { run } from '../../../../lib/process/run.ts';
import { asFault, type Fault, isFault } from '../../../../model/fault.ts';
import type { Limits } from '../../../../model/limits.ts';
import type { SandboxView } from '../../../sandbox/api.ts';
import { launchAdditions } from '../../../sandbox/launch/launch.ts';
import type { Sandboxes } from '../../../sandbox/sandbox.ts';

const cliMs = 60_000;
/** How long the remains of the trial sandbox may take to disappear on a busy machine. */
const goneMs = 60_000;
const pollMs = 20;

/** What the proof needs to create a sandbox and to check that nothing is left of it. */
export interface ProofParts extends Pick<Kernel, 'store' | 'home'> {
  readonly engine: Engine;
  readonly sandboxes: Sandboxes;
  /** The same Fault; if the disk is full, its hint names what to remove. */
  readonly explained: (fault: Fault) => Promise<Fault>;
}

/** The row of the sandbox itself, then one for each claim in the order of SECURITY.md. */
export async function proveClaims(parts: ProofParts): Promise<ProbeRow[]> {
  const found = [...(await trialRows(parts)), homeRow(parts.home)];
  const rowOf = (name: string) => found.find((row) => row.name === name);
  return ['sandbox', ...claimIds].map((name) => rowOf(name) ?? notProved(name, 'no sandbox could be started'));
}

async function trialRows(parts: ProofParts): Promise<ProbeRow[]> {
  const name = `doctor-${randomBytes(4).toString('hex')}`;
  const startedAt = Date.now();
  let view: SandboxView;
  try {
    view = await startTrial(parts.sandboxes, name);
  } catch (error) {
    return [noSandboxRow(await parts.explained(asFault(error)))];
  }
  const started = ok('sandbox', `started with ${view.runtime} in ${Date.now() - startedAt} ms`);
  let removal: ProbeRow;
  let proved: ProbeRow[];
  try {
    proved = await insideRows(parts, view);
  } finally {
    removal = await removalRow(parts, view);
  }
  return [started, ...proved, removal];
}

function noSandboxRow({ message, hint }: { readonly message: string; readonly hint: string | undefined }): ProbeRow {
  return failure('sandbox', message, hint ?? 'Fix the problems that the rows above show.');
}

/** Sets limits that the trials exceed. Limits that this machine cannot enforce are refused, so fewer are tried. */
async function startTrial(sandboxes: Sandboxes, name: string): Promise<SandboxView> {
  const { memoryBytes, pids } = trialLimits;
  // The first attempt has no swap of its own, because filling swap takes long.
  const attempts: Partial<Limits>[] = [{ ...trialLimits, swapBytes: memoryBytes }, trialLimits, { pids }];
  for (const limits of attempts) {
    try {
      return await sandboxes.create({ ...trialRequest, name, limits, strict: true });
    } catch (error) {
      if (!isFault(error, 'unsupported')) throw error;
    }
  }
  return sandboxes.create({ ...trialRequest, name });
}

/** The longest time that all trials together may take. */
const trialSeconds = 1800;
const trialRequest = {
  command: ['sleep', String(trialSeconds)],
  autoRemove: true,
  labels: { 'carrel.doctor': 'true' },
};

async function insideRows(parts: ProofParts, view: SandboxView): Promise<ProbeRow[]> {
  const { engine, store, home } = parts;
  const sandbox = store.get('sandbox', view.id)?.value;
  if (!sandbox) return [];
  const { limits, demanded } = sandbox.spec;
  const environment = Object.keys(launchAdditions(sandbox, home).env);
  const { handle } = sandbox.status;
  const facts = readFacts({ environment, limits, enforced: demanded, home: home.home }, handle);
  const inside = insideOf(engine, view.id, handle);
  const [copy, quiet] = await Promise.all([copyRow(inside, view, home), tryParallel(inside, facts)]);
  return [copy, ...quiet, ...(await trySerial(inside, facts))];
}

/**
 * Makes links to a folder of the host and to a file in it; `carrel cp` is then asked to follow them in both directions.
 */
const plantLinks = `mkdir /home/agent/tree && echo known > /home/agent/tree/known
ln -s "$1" /home/agent/tree/folder && ln -s "$1/secret" /home/agent/tree/file && ln -s "$1" /home/agent/folder`;

/** The folder of the host is in the sandbox's folder, at a place that is not mounted inside. */
async function copyRow(inside: RunInside, { id, name }: SandboxView, { home, sandbox }: Home): Promise<ProbeRow> {
  const folder = join(sandbox(id), 'doctor');
  mkdirSync(folder);
  writeFileSync(join(folder, 'secret'), 'of the host');
  try {
    const planted = await inside(plantLinks, [folder]);
    if (planted.exitCode !== 0) return notProved('copy', planted.stderr.trim());
    await Promise.all([
      cli(home, 'cp', `${name}:/home/agent/tree`, join(folder, 'pulled')),
      cli(home, 'cp', join(folder, 'secret'), `${name}:/home/agent/folder/pushed`),
    ]);
  } catch (error) {
    return notProved('copy', asFault(error).message);
  }
  const kind = (path: string) => kindAt(join(folder, path));
  return copyVerdict({
    known: kind('pulled/known'),
    file: kind('pulled/file'),
    folder: kind('pulled/folder'),
    pushed: kind('pushed'),
  });
}

type Kind = 'file' | 'folder' | 'link' | 'absent';

function kindAt(path: string): Kind {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return 'absent';
  return stat.isSymbolicLink() ? 'link' : stat.isDirectory() ? 'folder' : 'file';
}

const leakHint = 'Do not use carrel cp with sandboxes that you do not trust, and report it as SECURITY.md says.';

/** `kinds`: what arrived of the copied tree, and whether something was written through the link. */
export function copyVerdict(kinds: { readonly [name in 'known' | 'file' | 'folder' | 'pushed']: Kind }): ProbeRow {
  if (kinds.known !== 'file') return notProved('copy', 'carrel cp copied nothing');
  const read = kinds.file === 'file' || kinds.folder === 'folder';
  if (!read && kinds.pushed === 'absent') return ok('copy', 'links to the host were not followed, in either direction');
  return failure('copy', `a link was followed ${read ? 'out of' : 'into'} the sandbox`, leakHint);
}

/** Runs the CLI of this package, as a person would. */
function cli(home: string, ...args: string[]): Promise<unknown> {
  const program = join(packageFolder, 'bin/carrel');
  return run([process.execPath, program, '--home', home, ...args], cliMs);
}

/** Removes the sandbox in whatever state it is, and checks that nothing is left of it. */
async function removalRow(parts: ProofParts, { id, name }: SandboxView): Promise<ProbeRow> {
  const hint = `Try: carrel rm --force ${name}`;
  try {
    await parts.sandboxes.remove(name, { force: true });
  } catch (error) {
    if (!isFault(error, 'not_found')) return failure('removal', asFault(error).message, hint);
  }
  const deadline = Date.now() + goneMs;
  let left = await leftOf(parts, id);
  for (; left.length > 0 && Date.now() < deadline; left = await leftOf(parts, id)) await pause(pollMs);
  if (left.length === 0) return ok('removal', 'no process, mount, control group, folder or record is left');
  return failure('removal', `left behind: ${left.join(', ')}`, hint);
}

async function leftOf({ engine, store, home }: ProofParts, id: string): Promise<string[]> {
  return [
    ...tracesOf(id),
    ...((await engine.list()).includes(id) ? ['its state in the engine'] : []),
    ...(existsSync(home.sandbox(id)) ? [`folder ${home.sandbox(id)}`] : []),
    ...(store.get('sandbox', id) ? ['its record'] : []),
  ];
}

function homeRow({ home, database, audit }: Home): ProbeRow {
  const own = [home, join(home, socketName), database, `${database}-wal`, join(home, 'daemon.lock')];
  const paths = [...own, join(home, 'daemon.log'), audit, join(audit, 'audit.log')];
  const there = paths.flatMap((path) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat ? [{ path, mode: stat.mode & 0o777, isOwn: stat.uid === process.getuid?.() }] : [];
  });
  return privacyRow(there);
}

export interface Guarded {
  readonly path: string;
  readonly mode: number;
  readonly isOwn: boolean;
}

export function privacyRow(guarded: readonly Guarded[]): ProbeRow {
  const open = guarded.filter(({ mode, isOwn }) => !isOwn || (mode & 0o077) !== 0);
  if (open.length === 0) return ok('home', `${guarded[0]?.path} and what is in it are closed to others`);
  const shown = open.map(({ path, mode }) => `${path} (${mode.toString(8)})`);
  return failure('home', `open to others: ${shown.join(', ')}`, `chmod go= ${open.map(({ path }) => path).join(' ')}`);
}
