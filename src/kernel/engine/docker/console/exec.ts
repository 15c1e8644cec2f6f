/** Runs another process in a running sandbox. */
import type { Socket } from 'node:net';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Exec, ExecInspectInfo } from 'dockerode';
import { readIfThere } from '../../../../lib/file/file.ts';
import { processRef, signalProcess } from '../../../../lib/process/process.ts';
import { Fault } from '../../../../model/fault.ts';
import type { ExecSpec, Exit, Process } from '../../engine.ts';
import { commandNotRunning, exitFrom, notStarted } from '../../exit.ts';
import { type Connection, statusOf } from '../connection/connection.ts';
import { endBoth, type OutputFrame, type Outputs, readOutputs } from '../connection/frames.ts';
import { environment } from '../start/spec.ts';
import { stdinOf } from './console.ts';
import { isOver, isResized, resizeTwice } from './resize.ts';

/** The exit code of a command that ended with its sandbox and was removed before it could be inspected. */
const killed = 137;
const longestLookMs = 200;

export interface Execution {
  readonly process: Process;
  /** Settles when the command has entered the sandbox. */
  begun(): Promise<void>;
}

export async function execInside(connection: Connection, container: string, spec: ExecSpec): Promise<Execution> {
  const { id } = await createExec(connection, container, spec);
  const inspect = () => connection.find((docker) => docker.getExec(id).inspect());
  const terminal = spec.terminal !== null;
  const socket = await connection.hijack(`/exec/${id}/start`, {}, { Detach: false, Tty: terminal, ...size(spec) });
  if (!spec.stdin && !terminal) socket.end();
  const { outputs, ended } = readExec(socket, terminal, inspect);
  const exited = exitAfter(outputs, ended);
  exited.catch(() => {});
  const resize = resizeTwice((rows, columns) => resizeExec(connection, id, inspect, rows, columns));
  if (spec.terminal) await resize(spec.terminal.rows, spec.terminal.columns);
  return {
    process: {
      ...outputs,
      stdin: stdinOf(socket),
      resize: terminal ? resize : async () => {},
      signal: async (name) => signalExec(await begunState(inspect), container, name),
      detach: () => detach(socket, outputs, terminal),
      exited,
    },
    begun: async () => void (await begunState(inspect)),
  };
}

type Inspect = () => Promise<ExecInspectInfo | null>;

async function createExec(connection: Connection, container: string, spec: ExecSpec): Promise<Exec> {
  const options = {
    Cmd: [...spec.command],
    Env: environment(spec.env),
    WorkingDir: spec.cwd,
    AttachStdin: spec.stdin,
    AttachStdout: true,
    AttachStderr: true,
    Tty: spec.terminal !== null,
    ...size(spec),
  };
  try {
    return await connection.ask((docker) => docker.getContainer(container).exec(options));
  } catch (error) {
    const status = statusOf(error);
    if (status === 404 || status === 409) {
      throw new Fault('not_ready', 'the sandbox is not running', { cause: error });
    }
    throw error;
  }
}

/**
 * The size in Docker's format and in Podman's. Engines that know them need no resize afterwards; others ignore them.
 */
function size({ terminal }: ExecSpec): object {
  if (terminal === null) return {};
  const { rows, columns } = terminal;
  return { ConsoleSize: [rows, columns], h: rows, w: columns };
}

/** A terminal has no end of input: closing the connection would hang up the command. */
function detach(socket: Socket, { stdout, stderr }: Outputs, terminal: boolean): void {
  if (!terminal) socket.end();
  stdout.resume();
  stderr.resume();
}

/**
 * When a command cannot be started, the engine sends the reason on stdout. So output that looks like a reason is
 * buffered until the engine says whether the command ever ran.
 */
function readExec(socket: Socket, terminal: boolean, inspect: Inspect) {
  const kept: Buffer[] = [];
  let seen = false;
  const keep = ({ stream, bytes }: OutputFrame) => {
    const suspect = !terminal && !seen && stream === 'stdout' && bytes.toString('latin1', 0, 16) === 'OCI runtime exec';
    seen = true;
    if (suspect) kept.push(Buffer.from(bytes));
    return suspect;
  };
  let settle = (_: Promise<ExecInspectInfo | null>) => {};
  const ended = new Promise<ExecInspectInfo | null>((resolve) => {
    settle = resolve;
  });
  const end = (outputs: Outputs) => {
    const state = endedState(inspect);
    settle(state);
    if (kept.length === 0) return endBoth(outputs);
    const give = (failed: boolean) => {
      for (const bytes of kept) (failed ? outputs.stderr : outputs.stdout).write(bytes);
      endBoth(outputs);
    };
    void state.then(
      (info) => give(info !== null && neverRan(info)),
      () => give(false),
    );
  };
  const over = async () => !(await inspect())?.Running;
  return { outputs: readOutputs(socket, terminal, { keep, end, over }), ended };
}

async function exitAfter(outputs: Outputs, ended: Promise<ExecInspectInfo | null>): Promise<Exit> {
  const info = await ended;
  const streams = [outputs.stdout, outputs.stderr];
  await Promise.all(streams.map((stream) => finished(stream, { writable: false }).catch(() => {})));
  if (info === null) return exitFrom(killed);
  return exitFrom(neverRan(info) ? notStarted : (info.ExitCode ?? killed));
}

function neverRan({ Pid, Running, ExitCode }: ExecInspectInfo): boolean {
  return !Running && !Pid && (ExitCode === 126 || ExitCode === notStarted);
}

/** Polls until the command has ended: a process may close its streams and continue. */
async function endedState(inspect: Inspect): Promise<ExecInspectInfo | null> {
  for (let waitMs = 2; ; waitMs = Math.min(waitMs * 2, longestLookMs)) {
    const info = await inspect();
    if (info === null || (!info.Running && info.ExitCode !== null)) return info;
    await sleep(waitMs);
  }
}

async function begunState(inspect: Inspect): Promise<ExecInspectInfo | null> {
  for (;;) {
    const info = await inspect();
    if (info === null || info.Pid > 0 || (!info.Running && info.ExitCode !== null)) return info;
    await sleep(2);
  }
}

async function resizeExec(connection: Connection, id: string, inspect: Inspect, rows: number, columns: number) {
  await begunState(inspect);
  try {
    await connection.find((docker) => docker.getExec(id).resize({ h: rows, w: columns }));
  } catch (error) {
    if (isResized(error)) return;
    // The command has ended meanwhile; the engine may refuse the size before it reports the end, ignoring.
    if (!isOver(error) && (await inspect())?.Running) throw error;
  }
}

/**
 * The engine API cannot signal an exec, but its processes are visible on this machine: they are found by their control
 * group.
 */
async function signalExec(info: ExecInspectInfo | null, container: string, name: NodeJS.Signals): Promise<void> {
  if (!info?.Running) throw commandNotRunning();
  const ref = processRef(info.Pid);
  const group = readIfThere(`/proc/${info.Pid}/cgroup`) ?? '';
  if (ref === null || !group.includes(container)) {
    throw new Fault('unsupported', 'the processes of this Docker Engine cannot be reached from here', {
      hint: 'Run the daemon on the machine itself, not in a container.',
    });
  }
  if (!signalProcess(ref, name)) throw commandNotRunning();
}
