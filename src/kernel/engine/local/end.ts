/** Ends a sandbox, and removes everything it left in the engine. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isErrno, removeTree } from '../../../lib/file/file.ts';
import { isAlive, type ProcessRef, processRef, signalProcess } from '../../../lib/process/process.ts';
import { run } from '../../../lib/process/run.ts';
import { Fault } from '../../../model/fault.ts';
import { initReady } from '../init-ready.ts';
import { hasGroup, removeGroup } from './cgroup.ts';
import { type LocalContext, runtimeArgs } from './context.ts';
import type { LocalHandle } from './handle.ts';
import { logName } from './log/log-file.ts';
import { keeperOf, pidOf, settledKeeper } from './observe.ts';
import { allProcesses, argsOf } from './pause/stopped.ts';
import { findProgram } from './runtime/runtime.ts';

const killWaitMs = 30_000;

/** `exited` settles when the keeper has recorded the end, or after so many milliseconds. */
export async function stopProcesses(
  handle: LocalHandle,
  graceMs: number,
  exited: (withinMs: number) => Promise<boolean>,
): Promise<void> {
  if (graceMs > 0) await initReady(handle.init);
  if (graceMs > 0 && signalled(handle.init, 'SIGTERM') && (await exited(graceMs))) return;
  signalled(handle.init, 'SIGKILL');
  if (!(await exited(killWaitMs)) && isAlive(handle.init)) {
    throw new Fault('timeout', 'the sandbox did not end on SIGKILL', {
      hint: 'A process may hang in the kernel; try again.',
    });
  }
}

/** An ordinary user's daemon cannot signal processes in a user namespace that it could not join. */
function signalled(init: ProcessRef, signal: NodeJS.Signals): boolean {
  try {
    return signalProcess(init, signal);
  } catch (error) {
    if (!isErrno(error, 'EPERM')) throw error;
    throw new Fault('denied', 'the sandbox is in a user namespace that the daemon cannot enter any more', {
      cause: error,
      hint: `End it as root: kill -9 ${init.pid}`,
    });
  }
}

/** Frees everything of an ended sandbox except its exit code and its log. */
export async function freeEnded(context: LocalContext, id: string): Promise<void> {
  const { cgroups } = context;
  for (const runtime of runtimesHolding(context, id)) await deleteState(context, runtime, id);
  await endKeeper(context, id);
  await vanished(
    () => removeGroup(cgroups, id),
    () => !hasGroup(cgroups, id),
  );
}

export async function removeEverything(context: LocalContext, id: string): Promise<void> {
  const { layout } = context;
  await settledKeeper(context, id);
  await freeEnded(context, id);
  await endExecs(context, id);
  rmSync(layout.exit(id), { force: true });
  // Without the log file `linkRotatedLogs` makes no links while the folder is removed.
  rmSync(join(layout.run(id), logName), { force: true });
  if (existsSync(layout.run(id))) await removeTree(layout.run(id));
}

function runtimesHolding(context: LocalContext, id: string): string[] {
  const states = join(context.layout.folder, 'state');
  return readdirSync(states).filter((runtime) => existsSync(join(states, runtime, id)));
}

async function deleteState(context: LocalContext, runtime: string, id: string): Promise<void> {
  if (runtime === 'crun' && hasEndedFor(context, id)) return forgetEnded(context.layout.state(runtime), id);
  const program = findProgram(runtime);
  if (program === null)
    throw new Fault('unsupported', `${runtime}, which made this sandbox, is no longer installed`, {
      hint: `Install ${runtime} again.`,
    });
  const { exitCode, stderr } = await run([program, ...runtimeArgs(context, runtime), 'delete', '--force', id]);
  const folder = join(context.layout.state(runtime), id);
  if (exitCode !== 0 && existsSync(join(folder, 'status'))) {
    throw new Fault('unavailable', `${runtime} could not remove the sandbox: ${stderr.trim()}`);
  }
  rmSync(folder, { recursive: true, force: true });
}

/** Whether the first process of the sandbox existed and is gone: then all processes of its pid namespace are gone. */
function hasEndedFor(context: LocalContext, id: string): boolean {
  const pid = pidOf(context, id);
  return pid > 0 && processRef(pid) === null;
}

/** Does the work of `crun delete` for an ended sandbox, except for the control group, without starting crun. */
async function forgetEnded(states: string, id: string): Promise<void> {
  await removeTree(join(states, id));
}

async function endKeeper(context: LocalContext, id: string): Promise<void> {
  const keeper = keeperOf(context, id);
  if (keeper) await endSoon(keeper, 'the keeper of the sandbox');
}

/** Execs have ended with the sandbox; the processes that started them and kept their terminals end a moment later. */
async function endExecs(context: LocalContext, id: string): Promise<void> {
  const folder = join(context.layout.run(id), 'exec');
  if (!existsSync(folder) || readdirSync(folder).length === 0) return;
  const isExec = (args: readonly string[]) => args.includes(id) && args.some((arg) => arg.startsWith(`${folder}/`));
  const found = allProcesses().filter((pid) => isExec(argsOf(pid)));
  const living = found.map(processRef).filter((one) => one !== null);
  await Promise.all(living.map((one) => endSoon(one, 'an exec in the sandbox')));
}

async function endSoon(one: ProcessRef, what: string): Promise<void> {
  const gone = () => !isAlive(one);
  if (await until(gone, 1000)) return;
  signalProcess(one, 'SIGKILL');
  if (!(await until(gone, killWaitMs))) {
    throw new Fault('timeout', `${what} did not end on SIGKILL`, {
      hint: 'A process may hang in the kernel; try again.',
    });
  }
}

/** Repeats `attempt` until `done`: a group stays busy for a moment after its last process has ended. */
async function vanished(attempt: () => void, done: () => boolean): Promise<void> {
  const tried = () => {
    attempt();
    return done();
  };
  if (!(await until(tried, killWaitMs))) throw new Fault('unavailable', 'a control group of the sandbox is still busy');
}

async function until(condition: () => boolean, withinMs: number): Promise<boolean> {
  const end = Date.now() + withinMs;
  while (!condition()) {
    if (Date.now() > end) return false;
    await pause(5);
  }
  return true;
}
