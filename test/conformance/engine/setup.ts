/** What an engine's test hands to the suite. */
import type { Engine, Launch } from '../../../src/kernel/engine/engine.ts';

export type Argv = readonly string[];

export interface EngineSetup {
  readonly engine: Engine;
  /** A launch with an id of its own that runs on this machine, whose sandbox sees the shared folder. */
  launch(overrides: Partial<Launch>): Launch;
  /** Another instance over the same sandboxes, as a new daemon would open it. */
  reopen(): Promise<Engine>;
  readonly shared: SharedFolder;
  readonly commands: Commands;
  /** Called after everything the suite launched was removed and every instance disposed of. */
  cleanup(): Promise<void>;
}

/** A folder that sandboxes write and the suite reads without any engine, and the other way round. */
export interface SharedFolder {
  touch(name: string): Promise<void>;
  /** How many lines a file has; 0 if there is none. */
  lines(name: string): Promise<number>;
}

/** What `flood` writes over and over, cut at the number of bytes asked for. */
export const floodLine = '0123456789abcde';

export function flooded(bytes: number): Buffer {
  return Buffer.alloc(bytes, `${floodLine}\n`);
}

/** The commands that the suite runs. A command that waits writes `ready` and a newline when it begins to wait. */
export interface Commands {
  print(text: string): Argv;
  printBoth(stdout: string, stderr: string): Argv;
  readonly printEnv: Argv;
  readonly printFolder: Argv;
  readonly copyStdin: Argv;
  flood(bytes: number): Argv;
  exit(code: number): Argv;
  dieBy(signal: NodeJS.Signals): Argv;
  /** A program that does not exist. */
  readonly missing: Argv;
  /** Waits for a signal, and handles none. */
  readonly wait: Argv;
  /** Waits, and ends with the code on SIGTERM. */
  exitOnTerm(code: number): Argv;
  /** Waits, and does nothing on SIGTERM. */
  readonly ignoreTerm: Argv;
  /** Adds a line to a shared file, then ends with the code. */
  count(file: string, code: number): Argv;
  /** Adds a line to a shared file, then waits. */
  countAndWait(file: string): Argv;
  /** Waits for the shared file `go`, floods so many bytes, adds a line to `done`, ends with the code. */
  afterFile(work: { readonly go: string; readonly bytes: number; readonly done: string; readonly code: number }): Argv;
  /** Adds lines to a shared file, one after another, without end. */
  tick(file: string): Argv;
  /** Writes `terminal` if its stdin and stdout are one, else `pipe`. */
  readonly tellTerminal: Argv;
  /** Writes `ROWS COLUMNS` of its terminal, again whenever they change. */
  readonly tellSize: Argv;
}
