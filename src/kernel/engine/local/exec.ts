/**
 * Runs another process in a running sandbox. Without a terminal the runtime is a child of the daemon with plain pipes,
 * which is the fastest way and has back-pressure. With a terminal conmon keeps it, like the sandbox's command.
 */
import { once } from 'node:events';
import { closeSync, existsSync, fchmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { readIfThere } from '../../../lib/file/file.ts';
import { readerOf, writerOf } from '../../../lib/process/piped-program.ts';
import { type ProcessRef, processRef, signalProcess } from '../../../lib/process/process.ts';
import { type StartedProgram, startProgram } from '../../../lib/process/start-program.ts';
import { type Pipe, pipes } from '../../../lib/sys/sys.ts';
import { isFault } from '../../../model/fault.ts';
import type { Console, ExecSpec, Exit, Process } from '../engine.ts';
import { commandNotRunning, exitFrom, notStarted } from '../exit.ts';
import { attachConsole } from './console.ts';
import { type KeeperMessage, keeperMessages, startConmon } from './runtime/keeper.ts';
import { oomScoreAdj, processSpec } from './runtime/spec.ts';

export interface ExecTools {
  readonly runtimePath: string;
  readonly runtimeArgs: readonly string[];
  readonly keeperPath: string;
  readonly maxProcesses: number | null;
}

type Pipes = [stdin: Pipe, stdout: Pipe, stderr: Pipe];

let counter = 0;

export async function execInside(tools: ExecTools, id: string, bundle: string, spec: ExecSpec): Promise<Process> {
  const name = `${process.pid}-${++counter}`;
  const folder = join(bundle, 'exec', name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { command: args, env, cwd } = spec;
  const inside = processSpec({ args, env, cwd, terminal: spec.terminal, maxProcesses: tools.maxProcesses });
  writeFileSync(join(folder, 'process.json'), JSON.stringify(inside), { mode: 0o600 });
  return spec.terminal === null
    ? execWithPipes(tools, id, folder, spec.stdin)
    : execWithTerminal(tools, id, folder, { command: args, size: spec.terminal });
}

function execWithPipes(tools: ExecTools, id: string, folder: string, hasStdin: boolean): Process {
  const args = [
    ...tools.runtimeArgs,
    'exec',
    '--process',
    join(folder, 'process.json'),
    '--pid-file',
    join(folder, 'pid'),
    id,
  ];
  const { inner, stdin, stdout, stderr } = openPipes();
  const env = { PATH: process.env.PATH };
  const program = withOomScore(() => startProgram(tools.runtimePath, args, { stdio: inner, env, cwd: '/' }));
  for (const fd of inner) closeSync(fd);
  if (!hasStdin) stdin.end();
  const exited = exitOf(program, folder, [stdout, stderr]).finally(() =>
    rmSync(folder, { recursive: true, force: true }),
  );
  exited.catch(() => {});
  return {
    stdin,
    stdout,
    stderr,
    resize: async () => {},
    signal: (name) => signalInside(folder, program, name),
    detach: () => {
      stdin.end();
      stdout.resume();
      stderr.resume();
    },
    exited,
  };
}

const scoreOf = (process: number | 'self') => `/proc/${process}/oom_score_adj`;

/**
 * crun leaves the score of an exec unchanged, and then the kernel would kill the sandbox's init instead when memory
 * runs out.
 */
function withOomScore(begin: () => StartedProgram): StartedProgram {
  const before = readFileSync(scoreOf('self'), 'utf8');
  writeFileSync(scoreOf('self'), String(oomScoreAdj));
  try {
    return begin();
  } finally {
    writeFileSync(scoreOf('self'), before);
  }
}

/** Sets the score of a process that conmon started: conmon gives its own score to its children. */
function raiseOomScore(pid: number): void {
  try {
    writeFileSync(scoreOf(pid), String(oomScoreAdj));
  } catch {
    // The process has ended, or is not dumpable, ignoring.
  }
}

/** Without a pid file the command could not be started, and the runtime has written the reason to stderr. */
async function exitOf(program: StartedProgram, folder: string, streams: readonly Readable[]): Promise<Exit> {
  const ends = streams.map((stream) => finished(stream, { writable: false }).catch(() => {}));
  const exitCode = await program.exited;
  await Promise.all(ends);
  return exitFrom(existsSync(join(folder, 'pid')) ? exitCode : notStarted);
}

/**
 * Pipes between a process inside and the daemon. Inside they can be opened again by name, as programs do with
 * /dev/stderr.
 */
function openPipes() {
  const [[stdinRead, stdinWrite], [stdoutRead, stdoutWrite], [stderrRead, stderrWrite]] = pipes(3) as Pipes;
  const inner = [stdinRead, stdoutWrite, stderrWrite];
  for (const fd of inner) fchmodSync(fd, 0o666);
  return {
    inner,
    stdin: writerOf(stdinWrite),
    stdout: readerOf(stdoutRead),
    stderr: readerOf(stderrRead),
  };
}

/**
 * The runtime writes the pid just after the command has started, and ends with the command. Only while the runtime
 * lives is the pid certain to be the command's.
 */
async function signalInside(folder: string, runtime: StartedProgram, name: NodeJS.Signals): Promise<void> {
  while (!runtime.hasEnded()) {
    const pid = Number(readIfThere(join(folder, 'pid')) ?? 0);
    const ref = pid > 0 ? processRef(pid) : null;
    if (ref !== null) return signalRef(ref, name);
    await pause(5);
  }
  throw commandNotRunning();
}

function signalRef(ref: ProcessRef, name: NodeJS.Signals): void {
  if (!signalProcess(ref, name)) throw commandNotRunning();
}

/** conmon reports on fd 5 that its socket exists, and runs the command when fd 4 is written the second time. */
async function execWithTerminal(
  tools: ExecTools,
  id: string,
  folder: string,
  { command: [command], size }: { command: readonly string[]; size: NonNullable<ExecSpec['terminal']> },
): Promise<Process> {
  const options = { ...tools, id, bundle: folder, exits: folder, log: null, keepStdinOpen: true, terminal: true };
  const extra = ['--exec', '--exec-attach', '--exec-process-spec', join(folder, 'process.json')];
  const [[syncFd, syncInside], [startInside, startFd], [readyFd, readyInside]] = pipes(3) as Pipes;
  const program = startConmon(options, [syncInside, startInside, readyInside], extra);
  const [sync, start, ready] = [readerOf(syncFd), writerOf(startFd), readerOf(readyFd)];
  const words = keeperMessages(program, sync);
  const created = words.next();
  created.catch(() => {});
  start.write('\n');
  const release = () => {
    for (const stream of [sync, start, ready]) stream.destroy();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await Promise.race([once(ready, 'data'), created]);
    const console = attachConsole(folder);
    start.end('\n');
    const { data: pid, message } = await created.then(
      ({ value }) => value,
      // Older versions end without a report when the runtime could not start the command.
      (error): KeeperMessage => (isFault(error, 'unavailable') ? { data: -1 } : raise(error)),
    );
    if (pid <= 0) return refused(console, message ?? `${command} could not be started`, release);
    raiseOomScore(pid);
    const ref = processRef(pid);
    await console.resize(size.rows, size.columns);
    const exited = terminalExit(words, console.stdout).finally(release);
    exited.catch(() => {});
    return { ...console, exited, signal: async (name) => (ref ? signalRef(ref, name) : undefined) };
  } catch (error) {
    release();
    throw error;
  }
}

function raise(error: unknown): never {
  throw error;
}

/** A command that could not be started, as a process that writes the reason and ends. */
function refused(console: Console, message: string, release: () => void): Process {
  console.detach();
  release();
  const stdout = Readable.from([Buffer.from(`${message.trim()}\r\n`)]);
  const exited = Promise.resolve(exitFrom(notStarted));
  return { ...console, stdout, stderr: Readable.from([]), exited, signal: () => Promise.reject(commandNotRunning()) };
}

async function terminalExit(words: AsyncGenerator<KeeperMessage, never>, stdout: Readable): Promise<Exit> {
  const { value } = await words.next();
  await finished(stdout, { writable: false }).catch(() => {});
  return exitFrom(value.data);
}
