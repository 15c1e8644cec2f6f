/**
 * The command line: what a command is.
 *
 * Commands are data. Each area of the README's command table is a folder with a table in the file of the folder's name;
 * `noun/cli.ts` joins the tables. The parser, the help and completion are made from them, and the file with
 * a command's function is loaded only when the command runs.
 *
 * Output. Results go to stdout; notes, warnings, progress and errors go to stderr. With `--json` stdout carries one JSON
 * document, or one a line for streams, and stderr carries errors only, as JSON too. An error says what failed, on what and
 * why; `hint:` says what to do, where possible with the command.
 *
 * Exit codes are those of `faultTable` in `model/fault.ts`: 0 ok, 2 invalid request, 3 unsupported here, 4 not allowed,
 * 5 not found, 6 conflict or wrong state, 7 exhausted, 70 our fault, 75 try again, 130 interrupted. `run` and `exec` end
 * with the exit code of the command inside.
 */
import type { Client } from './client.ts';
import type { Output } from './output/output.ts';

/** What a command gets besides its arguments: the daemon to use, its output, and the table of all commands. */
export interface Context {
  /** Absolute path of the home. */
  readonly home: string;
  /** The socket of a daemon of another account, used instead of the home's own daemon; null: there is none. */
  readonly socket: string | null;
  /** The user that the owner acts as; null: the caller acts as its own user. */
  readonly user: string | null;
  readonly json: boolean;
  readonly out: Output;
  /** Every command, for commands about commands. */
  readonly table: CommandTable;
}

/** One use of a command: the arguments before `--`, its options, and the command or the paths after `--`. */
export interface Invocation<Options = object> {
  readonly args: readonly string[];
  readonly options: Options;
  readonly command: readonly string[];
}

/** The function of a command. Resolves to the exit code; undefined is 0. */
export type Perform<Options = never> = (
  context: Context,
  invocation: Invocation<Options>,
) => Promise<number | undefined> | Promise<void>;

/** One folder of commands, under one heading of `carrel help`. */
export interface Area {
  readonly heading: string;
  readonly groups?: readonly GroupEntry[];
  readonly commands: readonly CommandEntry[];
  /** The kinds that `completes` of commands can name: `{ volumes: … }`. */
  readonly names?: NameSources;
}

export type NameSources = Readonly<Record<string, NameSource>>;

/** One kind of names that completion offers. */
export interface NameSource {
  /** A shell splits the printed words, so that words of any other form are left out. */
  readonly pattern: RegExp;
  list(from: NameRequest): Promise<readonly string[]>;
}

export interface NameRequest {
  readonly home: string;
  readonly client: Client;
  readonly signal: AbortSignal;
}

/** The tables of all areas in one. */
export interface CommandTable {
  readonly commands: readonly CommandEntry[];
  readonly groups: readonly GroupEntry[];
  readonly names: NameSources;
}

/** The first word of several commands of two words. */
export interface GroupEntry {
  readonly name: string;
  readonly summary: string;
}

export interface CommandEntry {
  /** One word, or the word of a group and one more. The verbs are `ls`, `rm` and `clean`; `model/command-word.ts` has their other spellings. */
  readonly name: string;
  readonly summary: string;
  /** `<name>` is required, `[name]` is optional, `<name...>` is one or more. */
  readonly args?: string;
  /** Request fields that arguments fill, such as `{ paths: 'PATH' }`: a refusal of the field names the argument. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly options?: readonly OptionEntry[];
  /** Whether a command for the sandbox may follow after `--`. */
  readonly takesCommand?: boolean;
  /** Whether words after `--` are paths only; they are in `command`. */
  readonly takesPaths?: boolean;
  /** After this many arguments the command may follow without `--`, too. */
  readonly commandAfter?: number;
  /** The end of the usage line, if it has more than `args`. */
  readonly usage?: string;
  /** Command lines that help shows, without `carrel`. */
  readonly examples: readonly [string, ...string[]];
  /**
   * What its arguments complete to: a kind of `names`, `files`, `places` (a file here or NAME:PATH), or the words of a
   * list. `sandbox` completes only the first argument, `sandbox-files` then files, `sandbox-snapshots` then its
   * snapshots.
   */
  readonly completes?: string | readonly string[];
  readonly hidden?: boolean;
  /** `async () => (await import('./commands.ts')).userLs`: the file is loaded when the command runs. */
  readonly load: () => Promise<Perform>;
}

export interface OptionEntry {
  /** In the parser's notation: `-f, --follow` or `--tail <N>`. */
  readonly flags: string;
  /** The request field that carries its value, such as `limits.cpus`: a refusal of the field names the option. */
  readonly field?: string;
  readonly summary: string;
  readonly choices?: readonly string[];
  readonly repeat?: boolean;
  readonly hidden?: boolean;
  /** The kind of `names` that its value completes to, or `folders`; undefined: its choices, or files. */
  readonly completes?: string;
}
