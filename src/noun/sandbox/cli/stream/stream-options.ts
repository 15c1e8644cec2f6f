/** Chooses the streams of a command inside: this stdin, a terminal, or pipes. */

import type { Output } from '../../../../client/output/output.ts';
import { hasInput, inForeground } from '../../../../client/stream/input.ts';
import { terminalSize } from '../../../../client/stream/terminal.ts';
import type { TerminalSize } from '../../../../model/engine.ts';

export interface StreamOptions {
  readonly interactive?: boolean;
  /** False: `-T`. Undefined: the command gets a terminal if this is one. */
  readonly tty?: boolean;
}

export interface StreamChoice {
  readonly stdin: boolean;
  readonly terminal: TerminalSize | null;
}

/**
 * With a terminal inside, the keys of this terminal are sent. Otherwise `takesInput` says whether stdin is sent without
 * `-i`.
 */
export function chosenStreams(options: StreamOptions, out: Output, takesInput: boolean): StreamChoice {
  const terminal = (options.tty ?? isAtTerminal(out)) ? terminalSize() : null;
  const keys = terminal !== null && process.stdin.isTTY === true && inForeground();
  return { stdin: options.interactive === true || keys || (takesInput && hasInput()), terminal };
}

/** A background job cannot use the terminal, and JSON is for programs. */
function isAtTerminal(out: Output): boolean {
  return !out.json && process.stdin.isTTY === true && process.stdout.isTTY === true && inForeground();
}

/** The variable that tells a program the type of the terminal. */
export function terminalEnv({ terminal }: StreamChoice): Record<string, string> {
  return terminal && process.env.TERM ? { TERM: process.env.TERM } : {};
}
