/**
 * Programs with pipes for input, output and errors, in any thread. They are started without a copy of this process
 * (`lib/sys/posix-spawn.ts`); where that is impossible, or for another account, Node starts them.
 */
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { Fault } from '../../model/fault.ts';
import { awaitEnd, canSpawn, spawnChild } from '../sys/posix-spawn.ts';
import { type Pipe, pipes } from '../sys/sys.ts';
import { spawnFault } from './run.ts';
import { signalNumber } from './signal.ts';

export interface PipedOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** An open file that the program reads from its present offset; undefined: a pipe. */
  readonly input?: number | undefined;
  /** Undefined: the account of this process. */
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
}

export interface PipedProgram {
  /** Null: the input of the program is a file. */
  readonly stdin: Writable | null;
  /** The caller must read it to its end, or destroy it, before `ended` can settle. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when the program has ended and closed its output: the exit code, or 128 plus the number of a signal. */
  readonly ended: Promise<number>;
  kill(signal: NodeJS.Signals): void;
}

/** If the program cannot be started, the Fault is thrown, or `ended` rejects with it. */
export function startPiped(file: string, args: readonly string[], options: PipedOptions): PipedProgram {
  const isOther = options.uid !== undefined || options.gid !== undefined;
  const program = !isOther && canSpawn({ stdio: [options.input ?? null] }) ? spawned : forked;
  return program(file, args, options);
}

function spawned(file: string, args: readonly string[], options: PipedOptions): PipedProgram {
  const [stdout, stderr, stdin] = pipes(options.input === undefined ? 3 : 2) as [Pipe, Pipe, Pipe | undefined];
  const inside = [stdin?.[0] ?? options.input!, stdout[1], stderr[1]];
  const outside = [stdout[0], stderr[0], ...(stdin ? [stdin[1]] : [])];
  try {
    return child(spawnChild(file, args, { ...options, stdio: inside }), outside);
  } catch (error) {
    for (const fd of outside) closeSync(fd);
    throw spawnFault(file, error as NodeJS.ErrnoException);
  } finally {
    for (const fd of inside) if (fd !== options.input) closeSync(fd);
  }
}

function child(pid: number, [stdoutFd, stderrFd, stdinFd]: readonly number[]): PipedProgram {
  const [stdout, stderr] = [readerOf(stdoutFd!), readerOf(stderrFd!)];
  let isOver = false;
  const ended = Promise.all([closed(stdout), closed(stderr)])
    .then(() => awaitEnd(pid))
    .finally(() => {
      isOver = true;
    });
  const kill = (signal: NodeJS.Signals) => {
    // Until the end of the child is collected, the pid belongs to no other process.
    if (!isOver) process.kill(pid, signal);
  };
  return { stdin: stdinFd === undefined ? null : writerOf(stdinFd), stdout, stderr, ended, kill };
}

function closed(stream: Readable): Promise<void> {
  return new Promise((resolve) => stream.once('close', resolve));
}

export function readerOf(fd: number): Socket {
  return new Socket({ fd, readable: true, writable: false });
}

/** A stream to a program that may end before it reads everything: write errors are ignored. */
export function writerOf(fd: number): Socket {
  const writer = new Socket({ fd, readable: false, writable: true });
  return writer.on('error', () => {});
}

function forked(file: string, args: readonly string[], { env, cwd, input, uid, gid }: PipedOptions): PipedProgram {
  const child = spawn(file, args, {
    stdio: [input ?? 'pipe', 'pipe', 'pipe'],
    env: { ...env },
    cwd,
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
  });
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', (error) => reject(spawnFault(file, error)));
    child.on('close', (code, signal) => resolve(code ?? 128 + signalNumber(signal ?? '')));
  });
  ended.catch(() => {});
  // If spawning failed for lack of descriptors, there are no streams.
  if (child.stderr === null || child.stdout === null)
    throw new Fault('exhausted', `${file} could not be started`, {
      hint: 'Raise the limit on open files (ulimit -n).',
    });
  child.stdin?.on('error', () => {});
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    ended,
    kill: (signal) => void child.kill(signal),
  };
}
