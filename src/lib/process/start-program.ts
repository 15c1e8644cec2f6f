/**
 * Programs that the main thread starts without a copy of this process (`lib/sys/posix-spawn.ts`). Where that is impossible,
 * Node starts them.
 */
import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { canSpawn, collectEnd, type SpawnOptions, spawnChild } from '../sys/posix-spawn.ts';
import { spawnFault } from './run.ts';
import { signalNumber } from './signal.ts';

/** A child process. It has no supplementary groups, no other descriptors, and the default handlers of signals. */
export interface StartedProgram {
  /** The exit code, or 128 plus the number of a signal. Rejects with a Fault if the program could not be started. */
  readonly exited: Promise<number>;
  readonly hasEnded: () => boolean;
  kill(signal: NodeJS.Signals): void;
}

export function startProgram(file: string, args: readonly string[], options: SpawnOptions): StartedProgram {
  // The ends of children are reported to the main thread only.
  const program = isMainThread && canSpawn(options) ? spawned(file, args, options) : forked(file, args, options);
  // If no caller waits for the end, a rejection must not count as unhandled.
  program.exited.catch(() => {});
  return program;
}

function forked(file: string, args: readonly string[], { stdio, env, cwd }: SpawnOptions): StartedProgram {
  const child = spawn(file, args, {
    stdio: stdio.map((fd) => fd ?? 'ignore'),
    env: { ...env },
    cwd,
    // Node drops the groups of a child whose ids are set, even to the same ids.
    ...{ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
  });
  const exited = new Promise<number>((resolve, reject) => {
    child.on('error', (error) => reject(spawnFault(basename(file), error)));
    child.on('exit', (code, signal) => resolve(code ?? 128 + signalNumber(signal ?? '')));
  });
  const hasEnded = () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
  return { exited, hasEnded, kill: (signal) => void child.kill(signal) };
}

function spawned(file: string, args: readonly string[], options: SpawnOptions): StartedProgram {
  listen();
  try {
    return child(spawnChild(file, args, options));
  } catch (error) {
    const exited = Promise.reject(spawnFault(basename(file), error as NodeJS.ErrnoException));
    return { exited, hasEnded: () => true, kill: () => {} };
  }
}

/** Children whose end was not collected. Until it is, their pids belong to no other process. */
const children = new Map<number, (exitCode: number) => void>();

function child(pid: number): StartedProgram {
  return {
    exited: new Promise((resolve) => children.set(pid, resolve)),
    hasEnded: () => !children.has(pid),
    kill: (signal) => {
      if (children.has(pid)) process.kill(pid, signal);
    },
  };
}

let listens = false;

/** Collects the ends of these children only, each by its pid, as Node does for its own. */
function listen(): void {
  if (listens) return;
  process.on('SIGCHLD', collectEnded);
  listens = true;
}

function collectEnded(): void {
  for (const [pid, settle] of children) {
    const exitCode = collectEnd(pid);
    if (exitCode === null) continue;
    children.delete(pid);
    settle(exitCode);
  }
}
