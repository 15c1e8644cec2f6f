/**
 * Runs the command of a container whose first program is the spoke. The command gets the streams and the signals; when
 * it ends, the spoke ends.
 */
import { spawn } from 'node:child_process';
import { signalNumber } from '../../../lib/process/signal.ts';

const notFound = 127;

export function runContainerCommand([program = '', ...args]: readonly string[]): void {
  const child = spawn(program, args, { stdio: 'inherit' });
  child.once('error', (error) => {
    process.stderr.write(`carrel-spoke: ${program} cannot be started: ${error.message}\n`);
    process.exit(notFound);
  });
  child.once('exit', (code, signal) => process.exit(code ?? 128 + signalNumber(signal ?? '')));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
}
