/** Runs a program by argv, never by a shell, and waits for its end. */
import { spawn } from 'node:child_process';
import { Fault } from '../../model/fault.ts';
import { collect } from './collect.ts';
import { signalNumber } from './signal.ts';

export interface Ran {
  /** 128 plus the number of the signal if a signal ended the program, as in a shell. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

const maxOutputBytes = 1024 * 1024;

/** Output past 1 MiB is dropped. A missing program is the Fault `unsupported`. */
export function run(argv: readonly [string, ...string[]], timeoutMs = 60_000): Promise<Ran> {
  const [file, ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs, killSignal: 'SIGKILL' });
    child.on('error', (error) => reject(spawnFault(file, error)));
    // If spawning failed for lack of descriptors, there are no streams.
    if (child.pid === undefined) return;
    const stdout = collect(child.stdout, maxOutputBytes);
    const stderr = collect(child.stderr, maxOutputBytes);
    child.on('close', (code, signal) => {
      if (child.killed) reject(new Fault('timeout', `${file} did not end within ${timeoutMs} ms`));
      else
        resolve({ exitCode: code ?? 128 + signalNumber(signal ?? ''), stdout: `${stdout()}`, stderr: `${stderr()}` });
    });
  });
}

export function spawnFault(file: string, error: NodeJS.ErrnoException): Fault {
  if (error.code === 'ENOENT' || error.code === 'EACCES')
    return new Fault('unsupported', `${file} is not installed`, { hint: 'Run ./setup, or carrel doctor.' });
  return new Fault('internal', `${file} could not be started: ${error.message}`, { cause: error });
}
