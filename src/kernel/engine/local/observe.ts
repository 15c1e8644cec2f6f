/** The observed state of a sandbox, from its files and the kernel. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readIfThere } from '../../../lib/file/file.ts';
import { isAlive, lookAtLiving, type ProcessLook, type ProcessRef, processRef } from '../../../lib/process/process.ts';
import { run } from '../../../lib/process/run.ts';
import type { Exit, Observed, Started } from '../engine.ts';
import { exitFrom } from '../exit.ts';
import { type LocalContext, lacksMounts, readNote, runtimeArgs } from './context.ts';
import { type LocalHandle, readHandle } from './handle.ts';
import { isPaused } from './pause/pause.ts';
import { allProcesses, argsOf, fieldsOf, parentOf } from './pause/stopped.ts';

export async function observe(context: LocalContext, id: string, handle: unknown): Promise<Observed> {
  const known = readHandle(handle);
  const exit = readExit(context, id);
  if (exit) return { kind: 'exited', exit };
  if (known === null) return observeUnknown(context, id);
  const init = lookAtLiving(known.init);
  return init ? alive(context, id, known, init) : afterInit(context, id, known);
}

function alive(context: LocalContext, id: string, handle: LocalHandle, init: ProcessLook): Observed {
  if (maybePaused(context, init) && isPaused(context, id, handle.init)) return { kind: 'paused' };
  const running = { kind: 'running', started: startedOf(handle) } as const;
  // The parent in the stat of init shows that the keeper lives.
  if (init.parent === handle.keeper.pid || isAlive(handle.keeper)) return running;
  // A keeper that has just recorded the exit code ends, too.
  const exit = readExit(context, id);
  return exit ? { kind: 'exited', exit } : { ...running, trouble: 'keeper lost' };
}

/** The state of a process shows that it is stopped, except with the freezer of version 2. */
function maybePaused({ cgroups }: LocalContext, { state }: ProcessLook): boolean {
  return cgroups.version === 2 || ['D', 'T', 't'].includes(state);
}

export function startedOf(handle: LocalHandle): Started {
  return { handle, runtime: handle.runtime, advisory: handle.advisory };
}

export function readExit(context: LocalContext, id: string): Exit | null {
  const text = readIfThere(context.layout.exit(id));
  if (text === null || !/^\d+$/.test(text)) return null;
  return exitFrom(Number(text), existsSync(join(context.layout.run(id), 'oom')));
}

/**
 * The observed state after the first process has ended. Its keeper records the exit code once all output is written,
 * and a client that reads slowly can delay that: until then the sandbox counts as running. Without a keeper there is no
 * exit code.
 */
function afterInit(context: LocalContext, id: string, handle: LocalHandle | null): Observed {
  if (handle && isAlive(handle.keeper) && !readExit(context, id))
    return { kind: 'running', started: startedOf(handle) };
  const exit = readExit(context, id);
  return exit ? { kind: 'exited', exit } : { kind: 'absent' };
}

/** Observes a sandbox without a handle: its daemon died after it created the sandbox and before it saved the handle. */
async function observeUnknown(context: LocalContext, id: string): Promise<Observed> {
  await settledKeeper(context, id);
  const state = await runtimeState(context, id);
  const handle = currentHandle(context, id);
  if (state === null || state.status === 'stopped') return afterInit(context, id, handle);
  // A keeper without a reader of its sync pipe ends, and the sandbox must be created again.
  if (state.status === 'created') {
    const isWhole = handle !== null && !lacksMounts(context, id) && (await hasReported(handle));
    return { kind: isWhole ? 'created' : 'absent' };
  }
  const init = handle && lookAtLiving(handle.init);
  return handle && init ? alive(context, id, handle, init) : afterInit(context, id, handle);
}

const tickMs = 10;
const maxTicks = 1000;

/** Waits while the keeper is still creating the sandbox. */
export async function settledKeeper(context: LocalContext, id: string): Promise<void> {
  const isCreating = () => pidOf(context, id) === 0 && keeperOf(context, id) !== null;
  for (let tick = 0; tick < maxTicks && isCreating(); tick += 1) await pause(tickMs);
}

/**
 * Whether a keeper has written to its sync pipe and continues to run: then it sleeps, and the runtime between it and
 * the sandbox is gone.
 */
async function hasReported({ init, keeper }: LocalHandle): Promise<boolean> {
  const sleeps = () => parentOf(init.pid) === keeper.pid && fieldsOf(`/proc/${keeper.pid}/stat`)[0] === 'S';
  for (let tick = 0; tick < maxTicks && isAlive(keeper) && isAlive(init); tick += 1) {
    if (sleeps()) return true;
    await pause(tickMs);
  }
  return false;
}

/** The handle of the last launch under this id, whether or not it still runs. */
export function currentHandle(context: LocalContext, id: string): LocalHandle | null {
  const note = readNote(context, id);
  const keeper = keeperOf(context, id);
  const pid = pidOf(context, id);
  if (note === null) return null;
  const init = pid > 0 ? processRef(pid) : null;
  return { version: 1, runtime: note.runtime, advisory: note.advisory, init: init ?? gone, keeper: keeper ?? gone };
}

/** The pid of the first process; zero until the runtime has written it. */
export function pidOf(context: LocalContext, id: string): number {
  return Number(readIfThere(join(context.layout.run(id), 'pid')) ?? 0);
}

/** Stands for a process that has ended. */
const gone: ProcessRef = { pid: 0, startTicks: 0, bootId: '' };

/**
 * After a reboot another process may have the pid, so the command line must name the sandbox. A keeper that was started
 * just before its daemon died has not written its pid yet, and is searched in /proc.
 */
export function keeperOf(context: LocalContext, id: string): ProcessRef | null {
  const bundle = context.layout.run(id);
  if (!existsSync(bundle)) return null;
  const noted = readIfThere(join(bundle, 'keeper.pid'));
  const isKeeper = (args: readonly string[]) => args.includes(id) && args.includes(context.layout.exits);
  const pid = (noted === null ? allProcesses() : [Number(noted)]).find((one) => isKeeper(argsOf(one)));
  return pid === undefined ? null : processRef(pid);
}

interface RuntimeState {
  readonly status: 'created' | 'running' | 'stopped' | 'paused';
}

async function runtimeState(context: LocalContext, id: string): Promise<RuntimeState | null> {
  const note = readNote(context, id);
  if (note === null || !existsSync(join(context.layout.state(note.runtime), id))) return null;
  const { exitCode, stdout } = await run([note.runtimePath, ...runtimeArgs(context, note.runtime), 'state', id]);
  return exitCode === 0 ? (JSON.parse(stdout) as RuntimeState) : null;
}
