/** Which streams a command inside gets: this stdin, a terminal, or pipes. */
import type { TerminalSize } from '../../model/sandbox.ts';
import type { Output } from '../output/output.ts';
import { hasInput, inForeground } from './input.ts';
import { terminalSize } from './terminal.ts';

export interface StreamOptions {
  readonly interactive?: boolean;
  /** False: `-T`. Left out: a terminal where this is one. */
  readonly tty?: boolean;
}

export interface StreamChoice {
  readonly stdin: boolean;
  readonly terminal: TerminalSize | null;
}

/** Keys of a terminal go inside with a terminal; without one, `takesInput` says whether this stdin goes without `-i`. */
export function chosenStreams(options: StreamOptions, out: Output, takesInput: boolean): StreamChoice {
  const terminal = (options.tty ?? isAtTerminal(out)) ? terminalSize() : null;
  const keys = terminal !== null && process.stdin.isTTY === true && inForeground();
  return { stdin: options.interactive === true || keys || (takesInput && hasInput()), terminal };
}

/** A job in the background has none to give; JSON is for programs. */
function isAtTerminal(out: Output): boolean {
  return !out.json && process.stdin.isTTY === true && process.stdout.isTTY === true && inForeground();
}

/** What a program needs to know of the terminal. */
export function terminalEnv({ terminal }: StreamChoice): Record<string, string> {
  return terminal && process.env.TERM ? { TERM: process.env.TERM } : {};
}
