/** Starts a sandbox from a Launch. A crash may follow any step; `inspect` finds out which step was the last. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readIfThere } from '../../../lib/file/file.ts';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { run } from '../../../lib/process/run.ts';
import { Fault } from '../../../model/fault.ts';
import { type Limits, optionsOf } from '../../../model/limits.ts';
import type { Launch } from '../engine.ts';
import { type LaunchNote, type LocalContext, noteName, noteNested, requireInit, runtimeArgs } from './context.ts';
import { identityOf, type LocalIdentity, withAgentAs } from './ids.ts';
import type { Layout } from './layout.ts';
import { logName } from './log/log-file.ts';
import { releaseCommand } from './runtime/crun.ts';
import { type Keeper, runtimeFault, startKeeper } from './runtime/keeper.ts';
import { chooseRuntime, type Runtime } from './runtime/runtime.ts';
import { initPath, maxProcesses, runtimeSpec } from './runtime/spec.ts';
import { innerMounts, outerMounts } from './stage/nested.ts';
import { shiftBetween } from './stage/owner-namespace.ts';
import { stage } from './stage/stage.ts';

/** Prepares everything for the command, which waits. */
export async function create(context: LocalContext, launch: Launch): Promise<void> {
  const runtime = chooseRuntime(launch.runtime);
  requireInit(context.layout);
  const advisory = advisoryLimits(context, launch);
  const bundle = context.layout.run(launch.id);
  mkdirSync(bundle, { mode: 0o700 });
  const keeper = startKeeper({
    keeperPath: context.keeperPath,
    runtimePath: runtime.path,
    runtimeArgs: runtimeArgs(context, runtime.name),
    id: launch.id,
    bundle,
    exits: context.layout.exits,
    log: { path: join(bundle, logName), maxBytes: context.log.maxBytes },
    keepStdinOpen: launch.terminal !== null || (launch.stdin && !launch.console),
    terminal: launch.terminal !== null,
  });
  try {
    const note: LaunchNote = {
      runtime: runtime.name,
      runtimePath: runtime.path,
      advisory,
      env: launch.env,
      maxProcesses: maxProcesses(launch.limits, context.cgroups.byGroup),
      nests: innerMounts(outerMounts(launch.mounts)).length > 0,
    };
    putInBundle(bundle, noteName, note);
    crashPoint('start:noted');
    await createWith(context, launch, runtime, keeper);
  } catch (error) {
    keeper.dismiss();
    throw error;
  }
}

async function createWith(context: LocalContext, launch: Launch, runtime: Runtime, keeper: Keeper): Promise<void> {
  const { layout, filter, cgroups, space } = context;
  const isCrun = runtime.name === 'crun';
  const identity = identityFor(context, launch);
  const staged = await stage({
    ...launch,
    identity,
    mounts: [...launch.mounts, initMount(layout)],
    ownerNamespace: async (...shift) => (space.rootless ? null : shiftBetween(...shift)),
    rootless: space.rootless,
  });
  try {
    const spec = runtimeSpec({
      launch,
      identity,
      ...staged,
      byGroup: cgroups.byGroup,
      cgroupsPath: cgroups.parent === null ? null : join(cgroups.parent, launch.id),
      arch: process.arch,
      annotations: isCrun ? filter.annotations : {},
    });
    putInBundle(layout.run(launch.id), 'config.json', spec);
    crashPoint('start:staged');
    const pid = await keeper.create();
    crashPoint('start:made');
    if (staged.nest !== null) {
      refuseForeignKernel(runtime.name);
      staged.nest(pid);
      noteNested(context, launch.id);
    }
    if (isCrun) filter.learn(join(layout.state('crun'), launch.id));
    context.logs.add(layout.run(launch.id));
  } finally {
    staged.release();
  }
}

/** Refuses a runtime with its own kernel: the daemon cannot add mounts to its first process. */
function refuseForeignKernel(runtime: string): void {
  if (runtime !== 'runsc') return;
  throw new Fault('unsupported', 'under runsc nothing can be mounted inside a folder that agents can write to', {
    hint: 'Choose another target for the volume, such as /data/memory-bank, or use --runtime crun.',
  });
}

/** Writes the file whole or not at all: a keeper that outlives its daemon uses the files that it finds. */
function putInBundle(bundle: string, name: string, content: object): void {
  const path = join(bundle, name);
  writeFileSync(`${path}.new`, JSON.stringify(content), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** Lets the command begin; for a moment its process is still the runtime. */
export async function begin(context: LocalContext, id: string, note: LaunchNote): Promise<void> {
  if (note.runtime !== 'crun' || !releaseCommand(join(context.layout.state('crun'), id)))
    await startWith(context, id, note);
}

/** Waits until the runtime has become the command: before that an exec is refused and a signal is lost. */
export async function waitForCommand(initPid: number): Promise<void> {
  for (let tries = 0; isRuntime(initPid) && tries < maxTries; tries += 1) await pause(1);
}

async function startWith(context: LocalContext, id: string, { runtime, runtimePath }: LaunchNote): Promise<void> {
  const { exitCode, stderr } = await run([runtimePath, ...runtimeArgs(context, runtime), 'start', id]);
  if (exitCode !== 0) throw runtimeFault(stderr);
}

const maxTries = 10_000;

function isRuntime(pid: number): boolean {
  return /^(crun|runc)|INIT\]$/m.test(readIfThere(`/proc/${pid}/comm`) ?? '');
}

export function initMount(layout: Layout) {
  return { kind: 'bind', source: layout.init, target: initPath, readonly: true } as const;
}

/** The ids that the sandbox runs with. */
function identityFor(context: LocalContext, launch: Pick<Launch, 'slot' | 'mounts' | 'asOwner'>): LocalIdentity {
  const identity = identityOf(launch.slot, context.space);
  const mapsOwner = launch.asOwner || launch.mounts.some((mount) => mount.kind !== 'tmpfs' && mount.mapOwner);
  return mapsOwner && context.space.rootless ? withAgentAs(identity, 0) : identity;
}

/** The limits that cannot be enforced here. Throws if one of them is demanded. */
function advisoryLimits(context: LocalContext, launch: Launch): (keyof Limits)[] {
  const advisory = (Object.keys(launch.limits) as (keyof Limits)[]).filter(
    (key) => !context.cgroups.enforced.includes(key) && !launch.held.includes(key),
  );
  const refused = launch.demanded.filter((key) => advisory.includes(key));
  if (refused.length === 0) return advisory;
  throw new Fault('unsupported', `this machine cannot enforce ${optionsOf(refused)}`, {
    hint: 'carrel doctor shows what is missing; without --strict the sandbox runs anyway.',
  });
}
