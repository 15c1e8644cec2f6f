/**
 * Runs a program and blocks this thread until it ends, for threads whose work cannot wait otherwise. Like
 * `piped-program.ts`, without a copy of this process.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, readSync, writeSync } from 'node:fs';
import { isErrno } from '../file/file.ts';
import { awaitEndSync, canSpawn, spawnChild } from '../sys/posix-spawn.ts';
import { type Pipe, pipes, waitReadable } from '../sys/sys.ts';
import type { PipedOptions } from './piped-program.ts';

export interface RunSyncOptions extends Omit<PipedOptions, 'input'> {
  readonly input: Buffer;
  /** A program that takes longer, or prints more, is killed. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

export interface RunSyncResult {
  /** 127: the program could not be started. */
  readonly exitCode: number;
  readonly stdout: Buffer;
}

/** The number of bytes that an empty pipe takes at once. */
const pipeBytes = 64 * 1024;

export function runSync(file: string, args: readonly string[], options: RunSyncOptions): RunSyncResult {
  const isOther = options.uid !== undefined || options.gid !== undefined;
  if (isOther || options.input.length > pipeBytes || !canSpawn({ stdio: [] })) return byNode(file, args, options);
  const [[inputRead, inputWrite], [outputRead, outputWrite]] = pipes(2) as [Pipe, Pipe];
  let pid: number;
  try {
    pid = spawnChild(file, args, { ...options, stdio: [inputRead, outputWrite, null] });
  } catch {
    for (const fd of [inputWrite, outputRead]) closeSync(fd);
    return { exitCode: 127, stdout: Buffer.of() };
  } finally {
    for (const fd of [inputRead, outputWrite]) closeSync(fd);
  }
  feed(inputWrite, options.input);
  const stdout = readAll(outputRead, options);
  if (stdout === null) process.kill(pid, 'SIGKILL');
  return { exitCode: awaitEndSync(pid), stdout: stdout ?? Buffer.of() };
}

function feed(fd: number, input: Buffer): void {
  try {
    writeSync(fd, input);
  } catch (error) {
    // The program ended without reading; its exit code says why.
    if (!isErrno(error, 'EPIPE')) throw error;
  } finally {
    closeSync(fd);
  }
}

const chunkBytes = 64 * 1024;

/** Null: the output takes too long, or is too much. */
function readAll(fd: number, { timeoutMs, maxBytes }: RunSyncOptions): Buffer | null {
  const deadline = performance.now() + timeoutMs;
  const chunks: Buffer[] = [];
  try {
    for (let bytes = 0; bytes <= maxBytes; bytes += chunks.at(-1)!.length) {
      if (!waitReadable(fd, Math.max(0, deadline - performance.now()))) return null;
      const chunk = Buffer.allocUnsafe(chunkBytes);
      const length = readSync(fd, chunk);
      if (length === 0) return Buffer.concat(chunks);
      chunks.push(chunk.subarray(0, length));
    }
    return null;
  } finally {
    closeSync(fd);
  }
}

function byNode(file: string, args: readonly string[], options: RunSyncOptions): RunSyncResult {
  const { env, cwd, uid, gid, input, timeoutMs: timeout, maxBytes: maxBuffer } = options;
  const account = { ...(uid === undefined ? {} : { uid }), ...(gid === undefined ? {} : { gid }) };
  const { status, stdout } = spawnSync(file, args, { env: { ...env }, cwd, input, timeout, maxBuffer, ...account });
  return { exitCode: status ?? 127, stdout: stdout ?? Buffer.of() };
}
