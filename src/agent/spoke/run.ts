/** Commands in the project. A time-out, and a client that cancels, end everything that the command started. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';
import type { RunCommand, RunResult } from '../../model/spoke.ts';
import { realNames } from './path.ts';

const maxTailBytes = 64 * 1024;
const graceMs = 2000;

export async function runCommand(
  root: string,
  { command, cwd, env, timeoutMs }: RunCommand,
  output: (text: string) => void,
  signal: AbortSignal,
): Promise<RunResult> {
  const [program, ...args] = command as [string, ...string[]];
  const began = performance.now();
  const child = spawn(program, args, {
    cwd: join(root, ...realNames(root, cwd, true)),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that all of it can be ended.
    detached: true,
  });
  const stdout = new Tail(child.stdout, output);
  const stderr = new Tail(child.stderr, output);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    endGroup(child);
  }, timeoutMs);
  const cancel = () => endGroup(child);
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const [exitCode, ended] = await endOf(child, program);
    const durationMs = Math.round(performance.now() - began);
    const truncated = stdout.truncated || stderr.truncated;
    return { exitCode, signal: ended, timedOut, durationMs, stdout: stdout.text, stderr: stderr.text, truncated };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
    // What it left in the background has no reader any more.
    killGroup(child, 'SIGKILL');
  }
}

function endOf(child: ChildProcess, program: string): Promise<[number | null, NodeJS.Signals | null]> {
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'ENOENT' ? 'is not in the sandbox' : 'cannot be run';
      reject(new Fault('invalid', `${printable(program)} ${why}`, { cause: error }));
    });
    child.once('exit', (code, name) => {
      // A process in the background may keep the pipes open: what is in them now is all that counts.
      setTimeout(() => resolve([code, name]), 50).unref();
      child.once('close', () => resolve([code, name]));
    });
  });
}

function endGroup(child: ChildProcess): void {
  killGroup(child, 'SIGTERM');
  setTimeout(() => killGroup(child, 'SIGKILL'), graceMs).unref();
}

function killGroup({ pid }: ChildProcess, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, name);
  } catch {
    // Nothing of it is left, ignoring.
  }
}

/** The end of what a stream carries, with a limit on what is kept. */
class Tail {
  text = '';
  truncated = false;

  constructor(stream: Readable, output: (text: string) => void) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      this.#add(text);
      output(text);
    });
  }

  #add(more: string): void {
    this.text += more;
    if (this.text.length <= maxTailBytes) return;
    this.text = this.text.slice(-maxTailBytes);
    this.truncated = true;
  }
}
