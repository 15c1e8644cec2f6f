/** How all engines report the end of a process. */
import { signalOfExit } from '../../lib/process/signal.ts';
import { Fault } from '../../model/fault.ts';
import type { Exit } from './engine.ts';

/** The exit code of a command that could not be started, as in shells. */
export const notStarted = 127;

export function exitFrom(exitCode: number, outOfMemory = false): Exit {
  return { exitCode, signal: signalOfExit(exitCode), outOfMemory };
}

export function sandboxNotRunning(): Fault {
  return new Fault('not_ready', 'the sandbox is not running');
}

export function commandNotRunning(): Fault {
  return new Fault('not_ready', 'the command is not running');
}
