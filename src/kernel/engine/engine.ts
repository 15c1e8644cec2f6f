/**
 * An engine makes sandboxes.
 *
 * Life cycle of a sandbox in an engine: absent → created → running → exited → absent. `start` takes it from absent or
 * created to running. Its processes do not depend on the daemon. `stop` ends them; `remove` makes the sandbox absent.
 * A command runs at most once per start, however often `start` is repeated after a crash.
 *
 * Promises, kept by every engine and proved by one conformance suite:
 * - `start`, `stop` and `remove` are repeat-safe by id, from any state that a crash can leave. `start` of an exited
 *   sandbox runs nothing; `stop` of a created one makes it absent.
 * - The handle is plain JSON and is enough to find the sandbox again in another process. An engine keeps no other state
 *   in memory: with a null handle `inspect` finds a sandbox whose daemon crashed between launching and saving.
 * - When `pause` returns, no process inside makes progress until `resume`. Both are repeat-safe. The daemon pauses
 *   sandboxes for its own work: `inspect` still reports `running`, an exec waits, and `stop` and `remove` work. A pause
 *   ends with the engine instance that made it: the next instance that inspects the sandbox resumes it, so no crash
 *   leaves a sandbox paused. Observed `paused` means a pause from outside of this installation. `pause` of a sandbox
 *   that does not run is a `conflict`; `resume` of one that is not paused does nothing.
 * - `inspect` reports the observed state. It reports the exit of a sandbox with its code until `remove`, also when no
 *   daemon was running at that time.
 * - `list` names everything that the engine holds for this installation, orphans included.
 * - `remove` leaves nothing: no process, mount, cgroup, namespace, runtime state or folder of the engine.
 * - Death by signal n is exit code 128 + n. A command that cannot be started is exit code 127, with a message on
 *   stderr.
 * - A sandbox has no network but loopback. `network` names a process in its network namespace while it runs. `start`
 *   passes the same to `onCreated`, before the command begins if the engine can create a sandbox without starting
 *   its command. When `onCreated` fails, the start fails and leaves nothing.
 * - If an engine cannot provide what the caller asked for, it throws `unsupported`; it never makes a weaker sandbox.
 * - Output is never dropped for a slow reader: back-pressure reaches the process.
 */
import type { Readable, Writable } from 'node:stream';
import { logBytes, logFiles } from '../../lib/file/rotate.ts';
import type { ProcessRef } from '../../lib/process/process.ts';
import type { EngineName, TerminalSize } from '../../model/engine.ts';
import type { Limits } from '../../model/limits.ts';
import type { Mount } from '../../model/mount.ts';

export interface Engine {
  readonly name: EngineName;
  /** Finds out what this machine offers, by trying it. */
  probe(): Promise<readonly ProbeRow[]>;

  /** Announces a start or an exec, so that the engine can begin slow preparations. Has no result. */
  expect(): void;
  start(launch: Launch, onCreated?: OnCreated): Promise<Started>;
  inspect(id: string, handle: Handle): Promise<Observed>;
  list(): Promise<readonly string[]>;
  /**
   * Sends SIGTERM, and SIGKILL after the grace time. Returns when nothing runs and everything is freed except the exit
   * and the log.
   */
  stop(id: string, handle: Handle, graceMs: number): Promise<void>;
  remove(id: string, handle: Handle): Promise<void>;
  pause(id: string, handle: Handle): Promise<void>;
  resume(id: string, handle: Handle): Promise<void>;

  exec(id: string, handle: Handle, spec: ExecSpec): Promise<Process>;
  /** The streams of the sandbox's command. */
  attach(id: string, handle: Handle): Promise<Console>;
  /** The output of the sandbox's command, also from times without an attached client. */
  logs(id: string, options: LogOptions): AsyncIterable<LogLine>;
  stats(id: string, handle: Handle): Promise<Stats>;
  network(id: string, handle: Handle): Promise<ProcessRef>;

  /** Calls back with an id when that sandbox may have changed. It is a hint: the listener inspects the sandbox. */
  onChange(listener: (id: string) => void): () => void;
  dispose(): Promise<void>;
}

/** Returns the engine that the record of a sandbox names. Throws if that engine cannot be opened. */
export type EngineOf = (sandbox: { readonly spec: { readonly engine: EngineName } }) => Engine;

/** Plain JSON; only the engine that made it reads it. */
export type Handle = unknown;

export type Root =
  | { readonly kind: 'host' }
  /** A directory on the host, used read-only. */
  | { readonly kind: 'directory'; readonly path: string }
  /** The name or id of an image. The embedded engine has no images. */
  | { readonly kind: 'image'; readonly reference: string };

export interface Launch {
  readonly id: string;
  readonly hostname: string;
  /** The number of the user, which selects the range of host ids. */
  readonly slot: number;
  readonly runtime: string | null;
  readonly root: Root;
  readonly mounts: readonly Mount[];
  /** True: if the daemon is not root, agent has the id of the daemon's account even if no mount maps its owner. */
  readonly asOwner?: boolean;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly limits: Limits;
  /**
   * Limits that must be enforced: if the engine cannot enforce one, it refuses the start. The other limits may be
   * advisory.
   */
  readonly demanded: readonly (keyof Limits)[];
  /** Limits that the filesystems of the mounts enforce already. */
  readonly held: readonly (keyof Limits)[];
  readonly stdin: boolean;
  /**
   * The size of the command's terminal. With a terminal all output is on stdout, and input ends only with the command.
   */
  readonly terminal: TerminalSize | null;
  /** Connect a console before the command starts, so that `attach` gets all output. */
  readonly console: boolean;
}

export interface Started {
  readonly handle: Handle;
  readonly runtime: string;
  readonly advisory: readonly (keyof Limits)[];
}

export interface Exit {
  readonly exitCode: number;
  /** The name of the signal that ended the process: `SIGKILL`. */
  readonly signal: string | null;
  readonly outOfMemory: boolean;
}

/**
 * A defect of a running sandbox. `keeper lost`: the process that stored its output and would have recorded its exit
 * code was killed. Output and exit code are lost from then on, and a write without a reader may have ended the command.
 */
export type Trouble = 'keeper lost';

export type Observed =
  | { readonly kind: 'absent' }
  /** Prepared, but its command has not started. */
  | { readonly kind: 'created' }
  | { readonly kind: 'running'; readonly started: Started; readonly trouble?: Trouble }
  | { readonly kind: 'paused' }
  | { readonly kind: 'exited'; readonly exit: Exit };

export interface ExecSpec {
  readonly command: readonly string[];
  /** Added to the environment of the sandbox. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** False: the command reads end of file at once. */
  readonly stdin: boolean;
  readonly terminal: TerminalSize | null;
}

/** The streams of a process inside. With a terminal all output is on stdout. */
export interface Console {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  resize(rows: number, columns: number): Promise<void>;
  /** Closes the streams. The process inside continues. */
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
  /** The bytes as written, with the newline unless the line is incomplete. */
  readonly bytes: Buffer;
}

/** The limits of the log of a sandbox: at most `files` files of `maxBytes` each; then the oldest file is removed. */
export interface LogLimits {
  readonly maxBytes: number;
  readonly files: number;
}

export const defaultLog: LogLimits = { maxBytes: logBytes, files: logFiles };

export interface LogOptions {
  readonly follow: boolean;
  /** Only the last lines; null for all that is kept. */
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

/**
 * Called when the namespaces of a sandbox exist. `init` returns the first process; it throws if the engine or the
 * runtime cannot show that process.
 */
export type OnCreated = (init: () => ProcessRef) => Promise<void>;

/** A summary of an engine. */
export interface EngineAbout {
  /** Null: the engine does not answer. */
  readonly version: string | null;
  /** The default runtime. */
  readonly runtime: string | null;
  /** The values that `--runtime` accepts. */
  readonly runtimes: readonly string[];
  /** The socket of the engine; null: it has none. */
  readonly at: string | null;
  /** Why no sandbox can be started now. */
  readonly refusal: { readonly reason: string; readonly hint: string } | null;
}
