/**
 * An engine makes sandboxes.
 *
 * Life of a sandbox here: absent → created → running → exited → absent. `start` brings it from absent or created to
 * running; its processes live on without us; `stop` ends them; `remove` makes it absent. What it was told to run has run
 * at most once per start, however often `start` is repeated after a crash.
 *
 * Promises, kept by every engine and proved by one suite:
 * - `start`, `stop` and `remove` are repeat-safe by id, from any state a crash can leave behind. `start` of what has
 *   exited runs nothing; `stop` of what was only created makes it absent.
 * - The handle is plain JSON and enough to find the sandbox again in another process. Nothing else is remembered: with a
 *   null handle `inspect` finds what a crash between launching and saving left behind.
 * - When `pause` returns, nothing inside makes progress, until `resume`; both are repeat-safe. It is for purposes of ours:
 *   `inspect` goes on to report `running`, an exec waits, and `stop` and `remove` work. A pause does not outlive the
 *   instance that made it: the next that looks ends it, so no crash leaves a sandbox frozen. `paused` is what somebody
 *   else has paused. What does not run cannot be paused (`conflict`); `resume` of what is not paused does nothing.
 * - `inspect` reports what is so now. An exit that nobody watched is reported with its code, until `remove`.
 * - `list` names everything this engine holds for this installation, wanted or not.
 * - After `remove` nothing is left: no process, mount, cgroup, namespace, runtime state or folder of the engine.
 * - Death by signal n is exit code 128 + n; a command that cannot be started is 127, with a message on stderr.
 * - Nothing but loopback is there of a network. `network` names a process in the sandbox's own network namespace, for as
 *   long as the sandbox runs; `made` of `start` gets the same before the command begins, where an engine can tell the two
 *   apart. When `made` fails, so does the start, and nothing of it is left.
 * - What is asked for and cannot be had is a Fault (`unsupported`), never a weaker sandbox.
 * - Output of a process is never dropped for a slow reader: the reader's pace is the writer's.
 */
import type { Readable, Writable } from 'node:stream';
import type { ProcessRef } from '../lib/process.ts';
import { logBytes, logFiles } from '../lib/rotate.ts';
import type { Limits } from '../model/limits.ts';
import type { Mount } from '../model/mount.ts';
import type { EngineName, SandboxSpec, TerminalSize } from '../model/sandbox.ts';

export type Handle = unknown;

export type Root =
  | { readonly kind: 'host' }
  /** A directory on the host, used read-only. */
  | { readonly kind: 'directory'; readonly path: string }
  /** By the name an engine of images knows it by. */
  | { readonly kind: 'image'; readonly reference: string };

export interface Launch {
  readonly id: string;
  readonly hostname: string;
  /** Numbers the user; picks the range of host uids. */
  readonly slot: number;
  readonly runtime: string | null;
  readonly root: Root;
  readonly mounts: readonly Mount[];
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly limits: Limits;
  /** Limits that have to be enforced: where one cannot be, the start is refused. All others may be advisory. */
  readonly demanded: readonly (keyof Limits)[];
  /** Limits that what it is mounted on enforces already. */
  readonly held: readonly (keyof Limits)[];
  readonly stdin: boolean;
  /** Its command has a terminal: everything it writes is on stdout, and its input ends only with it. */
  readonly terminal: TerminalSize | null;
  /** Connect a console before the command starts, so that `attach` misses nothing. */
  readonly console: boolean;
}

export interface Started {
  readonly handle: Handle;
  readonly runtime: string;
  readonly advisory: readonly (keyof Limits)[];
}

export interface Exit {
  readonly exitCode: number;
  /** Named when a signal ended it: `SIGKILL`. */
  readonly signal: string | null;
  readonly outOfMemory: boolean;
}

/**
 * What a sandbox goes on without. `keeper lost`: the process that kept its output and would have told its exit code was
 * killed; both are lost from then on, and its command may have been ended by a write without a reader.
 */
export type Trouble = 'keeper lost';

export type Observed =
  | { readonly kind: 'absent' }
  /** Set up, but its command has not started. */
  | { readonly kind: 'created' }
  | { readonly kind: 'running'; readonly started: Started; readonly trouble?: Trouble }
  | { readonly kind: 'paused' }
  | { readonly kind: 'exited'; readonly exit: Exit };

export interface ExecSpec {
  readonly command: readonly string[];
  /** Added to that of the sandbox. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** False: the command finds the end of its input at once. */
  readonly stdin: boolean;
  readonly terminal: TerminalSize | null;
}

/** The streams of something that runs inside. With a terminal everything arrives on stdout. */
export interface Console {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  resize(rows: number, columns: number): Promise<void>;
  /** Lets go of the streams. What runs inside goes on. */
  detach(): void;
}

export interface Process extends Console {
  signal(name: NodeJS.Signals): Promise<void>;
  /** Settles after the streams have ended. */
  readonly exited: Promise<Exit>;
}

export interface LogLine {
  readonly at: string;
  readonly stream: 'stdout' | 'stderr';
  /** Bytes as they were written; with its newline unless the line was left unfinished. */
  readonly bytes: Buffer;
}

/** What is kept of a sandbox's output: so many files of so many bytes, and then the oldest goes. */
export interface LogLimits {
  readonly maxBytes: number;
  readonly files: number;
}

export const defaultLog: LogLimits = { maxBytes: logBytes, files: logFiles };

export interface LogOptions {
  readonly follow: boolean;
  /** The last lines only; null for all that is kept. */
  readonly tail: number | null;
  readonly signal?: AbortSignal;
}

export interface Stats {
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
  readonly pids: number;
}

export interface ProbeRow {
  readonly name: string;
  readonly level: 'ok' | 'warning' | 'failure';
  readonly detail: string;
  readonly hint: string | null;
}

/** `init` throws where the engine or the runtime has no such process to show. */
export type Made = (init: () => ProcessRef) => Promise<void>;

/** An engine in a few words. */
export interface EngineAbout {
  /** Null: it could not be asked. */
  readonly version: string | null;
  /** What it runs sandboxes with when nobody asks for anything. */
  readonly runtime: string | null;
  /** What `--runtime` may name. */
  readonly runtimes: readonly string[];
  /** The socket it was asked at; null where there is none. */
  readonly at: string | null;
  /** Why no sandbox can be started on it now. */
  readonly refusal: { readonly reason: string; readonly hint: string } | null;
}

export interface Engine {
  readonly name: EngineName;
  /** What this machine offers, by trying it. */
  probe(): Promise<readonly ProbeRow[]>;

  /** A start or an exec will be asked for in a moment: what takes its time beforehand may begin. Promises nothing. */
  expect(): void;
  start(launch: Launch, made?: Made): Promise<Started>;
  inspect(id: string, handle: Handle): Promise<Observed>;
  list(): Promise<readonly string[]>;
  /** SIGTERM, then SIGKILL after the grace time. Returns when nothing runs and all is freed but the end and the log. */
  stop(id: string, handle: Handle, graceMs: number): Promise<void>;
  remove(id: string, handle: Handle): Promise<void>;
  pause(id: string, handle: Handle): Promise<void>;
  resume(id: string, handle: Handle): Promise<void>;

  exec(id: string, handle: Handle, spec: ExecSpec): Promise<Process>;
  /** The streams of the sandbox's own command. */
  attach(id: string, handle: Handle): Promise<Console>;
  /** What the sandbox's own command wrote, kept while nobody was attached. */
  logs(id: string, options: LogOptions): AsyncIterable<LogLine>;
  stats(id: string, handle: Handle): Promise<Stats>;
  network(id: string, handle: Handle): Promise<ProcessRef>;

  /** Calls back with an id when something about it may have changed. A hint: observers look again. */
  onChange(listener: (id: string) => void): () => void;
  dispose(): Promise<void>;
}

/** The engine that the record of a sandbox names. Throws where that engine cannot be opened. */
export type EngineOf = (sandbox: { readonly spec: Pick<SandboxSpec, 'engine'> }) => Engine;
