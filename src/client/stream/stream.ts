/**
 * The streams between this terminal, or these pipes, and a command inside a sandbox.
 *
 * `interact` runs a command inside and connects the user's streams to it (`exec`, `shell`); `showUntilEnd` does so for a
 * command that was just started (`run`); `attachTo` connects them to a running one (`attach`, agents in terminals).
 * `execInside` runs a helper command with streams of its own, which ends when this client goes away.
 *
 * Promises:
 * - Bytes pass unchanged, with back-pressure in both directions. With `--json` each chunk becomes one line of JSON.
 * - The exit code of a command becomes that of this program. A stream that ends without an exit fails with
 *   `unavailable`: the daemon went away, the command goes on.
 * - With a terminal, keys are passed as they are typed: Ctrl-C reaches the program inside. Without one, `exec` passes
 *   signals on, and `attach` detaches.
 * - The terminal is restored when the command ends, when the user detaches, and when this process exits.
 */
import type { Readable } from 'node:stream';
import type { Client } from '../client.ts';

export interface StreamExit {
  readonly exitCode: number;
  readonly signal: string | null;
  readonly outOfMemory: boolean;
  /** HOST:PORT of each connection that no rule allowed. */
  readonly refused?: readonly string[];
}

export interface Sinks {
  stdout(chunk: Buffer): Promise<void> | void;
  stderr(chunk: Buffer): Promise<void> | void;
  /** Takes messages about the stream itself. */
  notice?(message: string): void;
}

export interface ExecTarget {
  readonly client: Client;
  readonly name: string;
  readonly signal?: AbortSignal;
  /** Called when a command begins, with a function that returns the bytes passed so far in both directions. */
  readonly onOpen?: (bytes: () => number) => void;
}

export interface ExecOptions {
  readonly input?: Readable;
  readonly env?: Readonly<Record<string, string>>;
}

export interface AttachOptions {
  /** The command of the sandbox has a terminal. */
  readonly terminal: boolean;
  /** The command by which the user attaches again. */
  readonly again: string;
  /** The command already runs and has drawn its screen for others. */
  readonly drawn: boolean;
  /** The log lacks the text after the last line feed, as in a Docker Engine, so the program has to redraw. */
  readonly lineLog: boolean;
}

export interface UsedStreams {
  readonly stdin: boolean;
  readonly terminal: boolean;
}
