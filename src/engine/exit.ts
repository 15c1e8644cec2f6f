/** How processes end, as all engines tell it. */
import { signalOfExit } from '../lib/signal.ts';
import { Fault } from '../model/fault.ts';
import type { Exit } from './engine.ts';

/** Of a command that could not be started, as shells have it. */
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
